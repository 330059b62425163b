// Guards against a drain that stops at the first failure, or forgets or repeats a later one, under CONTINUE: all others run,
// the attempt fails with the first error, what failed is kept in order and is not tried twice in one attempt, and READY comes
// only from a drain in which none failed.
#include "requests.h"

static int initialized;
static int32_t initialize(void *ctx) {
    (void)ctx;
    initialized++;
    return 0;
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "goes on", .initialize = initialize,
                                    .on_deferred_failure = LAZY_DEFERRED_CONTINUE };
static lazy_once once = LAZY_ONCE_WITH(&config);
static job a = { .letter = 'a' }, f = { .letter = 'f', .failures = 1 }, b = { .letter = 'b' },
           g = { .letter = 'g', .failures = 2 }, e = { .letter = 'e', .failures = 1 }, l = { .letter = 'l', .failures = 2 },
           n = { .letter = 'n' };

static uint64_t add(job *j, int32_t phase) {
    lazy_request request = request_for(j);
    request.phase = phase;
    return queue_request(&once, request);
}

int main(void) {
    add(&l, LAZY_PHASE_LAST);
    add(&a, 0);
    add(&f, 0);
    add(&b, 0);
    uint64_t g_ticket = add(&g, 0);
    uint64_t e_ticket = add(&e, -1);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_TRAIL("eafbgl");
    CHECK_IS(lazy_last_error()->ticket, e_ticket); /* the first */
    CHECK_IS(lazy_last_error()->code, 7);
    CHECK_HAS(lazy_last_error()->message, "job e");
    CHECK_JOB(f, 1, 0);
    CHECK_JOB(b, 1, 1);
    CHECK_IS(queued_in(&once), 4);
    CHECK(!lazy_once_is_initialized(&once));

    add(&n, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_TRAIL("efgnl"); /* what failed first, the new one behind it in its phase */
    CHECK_IS(lazy_last_error()->ticket, g_ticket);
    CHECK_IS(lazy_last_error()->attempt, 2);
    CHECK_JOB(e, 2, 1);
    CHECK_IS(queued_in(&once), 2);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_TRAIL("gl");
    CHECK_JOB(g, 3, 1);
    CHECK_JOB(l, 3, 1);
    CHECK_IS(initialized, 1);
    CHECK(lazy_once_is_initialized(&once));
    return finish();
}
