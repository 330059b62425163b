// Guards against a waiter that nobody wakes: sixty-four of them sleep, in init, run, call and submit, when the attempt
// gets ready, fails, fails with each taking its own turn, fails for good, or is closed under them; all of them return
// what their call promises.
#include "waiters.h"

enum { WAITERS = 64, KINDS = 4, EACH = WAITERS / KINDS };
static lazy_status waits_in_run(lazy_once *once);
static lazy_status (*const kinds[KINDS])(lazy_once *) = { wait_in_init, waits_in_run, wait_in_call, wait_in_submit };
enum ending { GETS_READY, SHARES, RETRIES, STICKS, CLOSES, ENDINGS };
static const lazy_status wanted[ENDINGS][KINDS] = {
    { LAZY_OK, LAZY_OK, LAZY_OK, LAZY_OK },
    { LAZY_E_INIT, LAZY_E_INIT, LAZY_QUEUED, LAZY_QUEUED },
    { LAZY_E_INIT, LAZY_E_INIT, LAZY_QUEUED, LAZY_QUEUED },
    { LAZY_E_INIT, LAZY_E_INIT, LAZY_E_INIT, LAZY_E_INIT },
    { LAZY_E_CLOSED, LAZY_E_CLOSED, LAZY_E_CLOSED, LAZY_E_CLOSED },
};
static enum ending ending;
static lazy_once once;
static waiter waiters[WAITERS];
static atomic_int attempts;

static int32_t initialize(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&attempts, 1) > 0) return 7;
    for (int i = 0; i < WAITERS; i++) waiter_start(&waiters[i], &once, kinds[i % KINDS]);
    for (int i = 0; i < WAITERS; i++) waiter_asleep(&waiters[i]);
    if (ending == CLOSES) {
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        for (int i = 0; i < WAITERS; i++) waiter_join(&waiters[i]); /* they do not wait for the attempt */
    }
    return ending == GETS_READY || ending == CLOSES ? 0 : 7;
}
static lazy_status waits_in_run(lazy_once *gate) {
    return lazy_once_run(gate, initialize, NULL);
}

int main(void) {
    for (ending = GETS_READY; ending < ENDINGS; ending++) {
        lazy_config config = { .size = sizeof config, .name = "relay", .initialize = initialize };
        config.on_failure = ending == RETRIES ? LAZY_FAIL_RETRY : ending == STICKS ? LAZY_FAIL_STICKY : LAZY_FAIL_SHARE;
        once = (lazy_once)LAZY_ONCE_WITH(&config);
        atomic_store(&attempts, 0);
        atomic_store(&handed_in_ran, 0);
        CHECK_IS(lazy_once_init(&once), wanted[ending][0]);
        for (int i = 0; i < WAITERS; i++) {
            lazy_status status = ending == CLOSES ? atomic_load(&waiters[i].status) : waiter_join(&waiters[i]);
            CHECK_IS(status, wanted[ending][i % KINDS]);
            if (status == LAZY_E_INIT) {
                CHECK_IS(waiters[i].code, 7);
                CHECK((waiters[i].attempt == 1) == (ending != RETRIES));
            }
        }
        CHECK_IS(atomic_load(&attempts), ending == RETRIES ? 1 + 2 * EACH : 1);
        CHECK_IS(atomic_load(&handed_in_ran), ending == GETS_READY ? 2 * EACH : 0);
        lazy_info info = LAZY_INFO_INIT;
        CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
        CHECK_IS(info.waiters, 0);
        CHECK_IS(info.queued, ending == SHARES || ending == RETRIES ? 2 * EACH : 0);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    return finish();
}
