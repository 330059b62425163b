// Guards against a request that waits for itself: cancel and cancel_owner from inside it, from its `describe` and its `drop`,
// and from a nested once inside it, return at once; cancel_owner counts what it withdrew, and a request that its own owner
// withdrew and that then fails does not come back. Another request of the queue is withdrawn from there as ever.
#include "requests.h"

static lazy_once once, nested;
static int fails, asked, ran, dropped;
static uint64_t ticket, sibling;
static job behind, mine[3];

static void ask(size_t withdrawn) {
    asked++;
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_cancel_owner(&once, &ticket), withdrawn);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_IN_PROGRESS);
}
static int32_t ask_nested(void *ctx) {
    (void)ctx;
    ask(0);
    return 0;
}
static int32_t run(void *ctx) {
    (void)ctx;
    ran++;
    ask(3);
    for (int i = 0; i < 3; i++) CHECK_JOB(mine[i], 0, 1);
    CHECK_IS(lazy_once_cancel(&once, sibling), LAZY_OK);
    lazy_once_reset(&nested);
    CHECK_IS(lazy_once_call(&nested, ask_nested, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&nested), LAZY_OK);
    return fails;
}
static void describe(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    ask(0);
    snprintf(buffer, capacity, "asks");
}
static void drop(void *ctx) {
    (void)ctx;
    dropped++;
    ask(0);
}
static void check(int whether_it_fails) {
    job other = { 0 };
    memset(mine, 0, sizeof mine);
    fails = whether_it_fails;
    asked = ran = dropped = 0;
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run;
    request.drop = drop;
    request.describe = describe;
    request.owner = &ticket;
    ticket = queue_request(&once, request);
    for (int i = 0; i < 3; i++) {
        request = request_for(&mine[i]);
        request.owner = &ticket;
        request.phase = i;
        queue_request(&once, request);
    }
    sibling = queue_job(&once, &other);
    behind = (job){ 0 };
    queue_job(&once, &behind);
    CHECK_IS(lazy_once_init(&once), fails ? LAZY_E_DEFERRED : LAZY_OK);
    if (fails) CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK_IS(dropped, 1);
    CHECK_IS(asked, fails ? 4 : 3);
    CHECK_JOB(other, 0, 1);
    CHECK_JOB(behind, 1, 1);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
}

int main(void) {
    check(0);
    check(1);
    return finish();
}
