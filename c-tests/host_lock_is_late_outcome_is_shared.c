// Guards against a second start by a call that found an attempt running when it was entered and was held up in run_attached
// until that had failed: it is a waiter of that attempt and shares its error; under LAZY_FAIL_RETRY it takes its turn, a
// call is queued, and after a success nothing runs twice.
#include "big_lock.h"
#include "callers.h"

enum { WAYS = 5 };
static lazy_status in_limited_init(void *once) {
    return lazy_once_init_timeout((lazy_once *)once, 3600ull * 1000 * 1000 * 1000);
}
static int32_t second_start(void *ctx);
static lazy_status in_run_of_second(void *once) {
    return lazy_once_run((lazy_once *)once, second_start, NULL);
}
static atomic_int ran;
static lazy_status in_counted_call(void *once) {
    return lazy_once_call((lazy_once *)once, count, &ran);
}
static lazy_status in_counted_submit(void *once) {
    return LAZY_CALL((lazy_once *)once, count, &ran);
}
static lazy_status (*const ways[WAYS])(void *) = { in_init, in_limited_init, in_run_of_second, in_counted_call, in_counted_submit };
static big_lock lock;
static hold start_up;
static atomic_int starts;

static int32_t initialize(void *ctx) { /* keeps the lock */
    (void)ctx;
    if (atomic_fetch_add(&starts, 1) > 0) return 0;
    return held(&start_up);
}
static int32_t second_start(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&starts, 1);
    return 0;
}

int main(void) {
    static const int codes[] = { 0, 17, 17 };
    big_begin(&lock, 0, "lock");
    for (int round = 0; round < 3; round++) {
        lazy_config config = LAZY_CONFIG_INIT;
        caller owner, late[WAYS];
        config.initialize = initialize;
        config.host = &lock.host;
        config.on_failure = round == 2 ? LAZY_FAIL_RETRY : LAZY_FAIL_SHARE;
        lazy_once once = LAZY_ONCE_WITH(&config);
        start_up = (hold)HOLD_INIT;
        atomic_store(&start_up.code, codes[round]);
        atomic_store(&starts, 0);
        atomic_store(&ran, 0);
        big_reset(&lock);
        begin(&owner, in_init, &once);
        gate_wait(&start_up.inside);
        for (int i = 0; i < WAYS; i++) {
            begin(&late[i], ways[i], &once);
            while (COUNT(lock.runs) < i + 2) sched_yield();
            until_waiting(&late[i]); /* for the host lock */
        }
        CHECK_IS(COUNT(lock.waits), 0);
        gate_open(&start_up.go);
        CHECK_IS(ended(&owner), codes[round] ? LAZY_E_INIT : LAZY_OK);
        int queued = 0;
        for (int i = 0; i < WAYS; i++) {
            lazy_status status = ended(&late[i]);
            if (i >= 3 && status == LAZY_QUEUED && codes[round]) queued++;
            else CHECK_IS(status, i < 3 && round == 1 ? LAZY_E_INIT : i >= 3 && round == 1 ? LAZY_QUEUED : LAZY_OK);
            if (status != LAZY_E_INIT) continue;
            CHECK_IS(late[i].error.code, 17);
            CHECK_IS(late[i].error.attempt, 1);
            CHECK_HAS(late[i].message, "it was held and failed");
        }
        CHECK_IS(atomic_load(&starts), round == 2 ? 2 : 1);
        if (round == 1) CHECK_IS(queued, 2);
        if (round == 1) CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_IS(atomic_load(&ran), 2);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    return finish();
}
