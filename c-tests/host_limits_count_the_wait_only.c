// Guards against a limit that counts the wait for the host lock: the lock is held for longer than the limit, before the wait
// begins; then the attempt ends within the limit, and the call is LAZY_OK. A limit that passes while the thread sleeps is
// LAZY_E_TIMEOUT, once the lock is back; a try is LAZY_E_TIMEOUT before any hook, also with the lock held.
#include "big_lock.h"
#include "callers.h"
#include <time.h>

static const uint64_t limit_ns = 700u * 1000 * 1000;
static big_lock lock;
static lazy_once once;
static hold start_up;
static atomic_int ran;

static int32_t initialize(void *ctx) {
    int depth = big_let_go(&lock);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}
static lazy_status limited(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init_timeout(&once, limit_ns), LAZY_OK); /* here, so that a time-out says so at once */
    return LAZY_OK;
}
static lazy_status limited_call(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_OK);
    return LAZY_OK;
}
static lazy_status in_short(void *ctx) {
    (void)ctx;
    return lazy_once_init_timeout(&once, 20u * 1000 * 1000);
}
static void spend(uint64_t ns) { /* a duration that is tested, not an order */
    for (uint64_t end = now_ns() + ns; now_ns() < end; usleep(1000)) {}
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner, waiters[2], hasty;
    big_begin(&lock, 0, "lock");
    config.initialize = initialize;
    config.ctx = &start_up;
    config.host = &lock.host;
    config.timeout_ns = limit_ns;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    start_up = (hold)HOLD_INIT;
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);

    big_take(&lock);
    int runs = COUNT(lock.runs);
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
    CHECK_HOOKS(&lock, runs, 0);
    CHECK_DEPTH(&lock, 1);
    CHECK_IS(lazy_once_init_timeout(&once, 1000), LAZY_E_TIMEOUT);
    CHECK_DEPTH(&lock, 1);

    begin(&hasty, in_short, NULL);
    until_waiting(&hasty); /* for the lock */
    spend(40u * 1000 * 1000);
    until_waiting(&hasty);
    big_give(&lock);
    CHECK_IS(ended(&hasty), LAZY_E_TIMEOUT);

    big_take(&lock);
    begin(&waiters[0], limited, NULL);
    begin(&waiters[1], limited_call, NULL);
    for (int i = 0; i < 2; i++) until_waiting(&waiters[i]); /* for the lock */
    int waits = COUNT(lock.waits);
    spend(limit_ns + limit_ns / 4);
    CHECK_IS(COUNT(lock.waits), waits);
    big_give(&lock);
    while (COUNT(lock.waits) < waits + 2) sched_yield(); /* for the attempt */
    for (int i = 0; i < 2; i++) until_waiting(&waiters[i]);
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    for (int i = 0; i < 2; i++) CHECK_IS(ended(&waiters[i]), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
