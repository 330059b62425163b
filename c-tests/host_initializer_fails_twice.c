// Guards against a turn that is taken without the host lock, or lost, after a failure: under LAZY_FAIL_RETRY the initializer
// fails twice while six threads wait, half of them with the lock; two callers get their own error, the others LAZY_OK, it
// ran three times, attached each time.
#include "big_lock.h"
#include "callers.h"

enum { WAITERS = 6 };
static big_lock lock;
static lazy_once once;
static caller waiters[WAITERS];
static int runs;

static lazy_status enters(void *holds) {
    if (holds) big_take(&lock);
    lazy_status status = lazy_once_init(&once);
    CHECK_DEPTH(&lock, holds ? 1 : 0);
    if (holds) big_give(&lock);
    return status;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK(*big_depth(&lock) > 0);
    int run = ADD(runs, 1);
    int depth = big_let_go(&lock);
    if (run == 0) {
        for (int i = 0; i < WAITERS; i++) begin(&waiters[i], enters, i % 2 ? &lock : NULL);
        big_until_parked(&lock, WAITERS);
        for (int i = 0; i < WAITERS; i++) until_waiting(&waiters[i]);
    }
    big_take_back(&lock, depth);
    return run < 2 ? lazy_fail(run + 1, "no luck yet") : 0;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    big_begin(&lock, 0, "lock");
    config.initialize = initialize;
    config.host = &lock.host;
    config.on_failure = LAZY_FAIL_RETRY;
    for (long i = rounds(100); i > 0; i--) {
        once = (lazy_once)LAZY_ONCE_WITH(&config);
        SET(runs, 0);
        int failed = 1;
        CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
        CHECK_IS(lazy_last_error()->code, 1);
        for (int w = 0; w < WAITERS; w++) {
            lazy_status status = ended(&waiters[w]);
            if (status == LAZY_OK) continue;
            CHECK_IS(status, LAZY_E_INIT);
            CHECK_IS(waiters[w].error.code, 2);
            failed++;
        }
        CHECK_IS(failed, 2);
        CHECK_IS(COUNT(runs), 3);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    return finish();
}
