// Guards against a library that reads more of a request than its caller has, or takes it for less: an older caller's shorter
// struct counts as zero where it ends, whatever lies behind; a newer caller's longer one is accepted while what this library
// does not know is zero, and refused otherwise; one that does not cover `fn` is refused, on a ready once too.
#include "page_end.h"
#include "requests.h"

static job j;
static char owner;
static void *seen_ctx;
static int32_t remember(void *ctx) {
    seen_ctx = ctx;
    note('r');
    return 0;
}
static lazy_request full(void) {
    lazy_request request;
    memset(&request, 0xff, sizeof request); /* padding is not a field */
    request.size = sizeof request;
    request.fn = remember;
    request.ctx = &j;
    request.drop = drop_job;
    request.owner = &owner;
    request.key = 5;
    request.phase = -3;
    request.flags = LAZY_REQUEST_NO_WAIT;
    request.site = LAZY_HERE;
    request.describe = describe_job;
    return request;
}
static void submit(lazy_once *once, size_t size, int at_end) {
    lazy_request request = full();
    const lazy_request *given = &request;
    request.size = size;
    if (at_end) given = at_page_end(&request, size);
    else memset((char *)&request + size, 0xff, sizeof request - size);
    CHECK_IS(lazy_once_submit(once, given, NULL), LAZY_QUEUED);
}
static void check_shorter(size_t size) {
    lazy_once once = LAZY_ONCE_INIT;
    job plain = { .letter = 'p' };
    int keyed = size > offsetof(lazy_request, key), drops = size > offsetof(lazy_request, drop);
    j = (job){ 0 };
    CHECK_IS(lazy_once_call(&once, run_job, &plain), LAZY_QUEUED);
    submit(&once, size, 0);
    submit(&once, size, 1);
    CHECK_IS(queued_in(&once), keyed ? 2 : 3);
    CHECK_IS(j.dropped, keyed);
    CHECK_IS(lazy_once_cancel_owner(&once, &owner), size <= offsetof(lazy_request, owner) ? 0 : keyed ? 1 : 2);
    if (size > offsetof(lazy_request, owner)) {
        CHECK_IS(j.dropped, 2);
        submit(&once, size, 1);
    }
    seen_ctx = &owner;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK(seen_ctx == (size > offsetof(lazy_request, ctx) ? &j : NULL));
    CHECK_IS(j.dropped, size > offsetof(lazy_request, owner) ? 3 : drops ? 2 : 0);
    CHECK_TRAIL(size > offsetof(lazy_request, phase) ? "rp" : size > offsetof(lazy_request, owner) ? "pr" : "prr");
}

int main(void) {
    const size_t sizes[] = { offsetof(lazy_request, ctx), offsetof(lazy_request, drop), offsetof(lazy_request, owner),
                             offsetof(lazy_request, key), offsetof(lazy_request, phase), offsetof(lazy_request, site),
                             offsetof(lazy_request, describe), sizeof(lazy_request) };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_shorter(sizes[i]);

    lazy_once once = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    j = (job){ 0 };
    struct { lazy_request known; unsigned char unknown[64]; } longer = { .known = full() };
    longer.known.size = sizeof longer;
    CHECK_IS(lazy_once_submit(&once, &longer.known, NULL), LAZY_OK);
    CHECK_IS(lazy_once_submit(&once, at_page_end(&longer, sizeof longer), NULL), LAZY_OK);
    CHECK_TRAIL("rr");
    CHECK_IS(j.dropped, 2);
    for (size_t i = 0; i < sizeof longer.unknown; i++) {
        longer.unknown[i] = 1;
        CHECK_IS(lazy_once_submit(&once, at_page_end(&longer, sizeof longer), NULL), LAZY_E_INVALID);
        CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
        longer.unknown[i] = 0;
    }
    for (size_t size = 0; size < offsetof(lazy_request, ctx); size++) {
        lazy_request request = full();
        lazy_once fresh = LAZY_ONCE_INIT;
        request.size = size;
        CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_E_INVALID);
        CHECK_IS(lazy_once_submit(&fresh, &request, NULL), LAZY_E_INVALID);
    }
    CHECK_TRAIL("");
    CHECK_IS(j.dropped, 2);
    return finish();
}
