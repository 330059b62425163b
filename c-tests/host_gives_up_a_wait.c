// Guards against a wait that the host wants given up and that goes on, or whose request was run, queued or dropped all the
// same: LAZY_E_INTERRUPTED from init, run, call and submit. And against interrupts without that wish which end a wait, or
// are lost: they come before park, late, often and from another thread, and the wait goes on until the attempt ends.
#include "big_lock.h"
#include "callers.h"

enum { WAYS = 6 };
static big_lock lock;
static hold start_up;
static job mine;

static lazy_status submit_job(void *once) {
    lazy_request request = request_for(&mine);
    return lazy_once_submit((lazy_once *)once, &request, NULL);
}
static lazy_status (*const ways[WAYS])(void *) = { in_init, in_unlimited_init, in_run, in_call, submit_job, in_reset };
static atomic_int way;
static lazy_once *the_once;
static lazy_status with_the_lock(void *holds) {
    if (holds) big_take(&lock);
    lazy_status status = ways[atomic_load(&way)](the_once);
    CHECK_DEPTH(&lock, holds ? 1 : 0);
    if (holds) big_give(&lock);
    return status;
}
static int32_t initialize(void *ctx) {
    int depth = big_let_go(&lock);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}
static lazy_status counted(void *once) {
    return lazy_once_call((lazy_once *)once, count, &start_up.thread);
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner, waiter, patient;
    big_begin(&lock, 0, "impatient");
    config.name = "slow";
    config.initialize = initialize;
    config.ctx = &start_up;
    config.host = &lock.host;
    for (int round = 0; round < 4; round++) { /* whether it is early, and late */
        lazy_once once = LAZY_ONCE_WITH(&config);
        the_once = &once;
        start_up = (hold)HOLD_INIT;
        big_reset(&lock);
        begin(&owner, in_init, &once);
        gate_wait(&start_up.inside);
        begin(&patient, counted, &once);
        until_waiting(&patient);
        for (int i = 0; i < 2 * WAYS; i++) {
            atomic_store(&way, i / 2);
            SET(lock.late, round & 2 ? 3 : 0);
            begin(&waiter, with_the_lock, i % 2 ? &lock : NULL);
            until_waiting(&waiter);
            for (long n = rounds(200); n > 0; n--) {
                big_interrupt(&lock, 0, 0);
                sched_yield();
            }
            until_waiting(&waiter); /* still */
            until_waiting(&patient);
            CHECK_IS(info_of(&once).waiters, i / 2 == WAYS - 1 ? 1 : 2);
            if (round & 1) { /* the next wait begins with it */
                int before = COUNT(lock.waits);
                SET(lock.early, 2);
                while (COUNT(lock.waits) < before + 20) {
                    big_interrupt(&lock, 0, 0);
                    sched_yield();
                }
            }
            while (!big_interrupt(&lock, atomic_load(&waiter.id), 1)) sched_yield();
            CHECK_IS(ended(&waiter), LAZY_E_INTERRUPTED);
            CHECK_HAS(waiter.message, "\"impatient\"");
            CHECK_HAS(waiter.message, "\"slow\"");
            SET(lock.early, 0);
            until_waiting(&patient);
            CHECK_JOB(mine, 0, 0);
            CHECK_IS(info_of(&once).queued, 0);
            CHECK_IS(info_of(&once).waiters, 1);
        }
        gate_open(&start_up.go);
        CHECK_IS(ended(&owner), LAZY_OK);
        CHECK_IS(ended(&patient), LAZY_OK);
        CHECK_IS(atomic_load(&start_up.runs), 1);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    CHECK_JOB(mine, 0, 0);
    return finish();
}
