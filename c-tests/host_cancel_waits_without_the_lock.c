// Guards against a cancel, cancel_owner or reset that waits for a running request with the host lock held, which that request
// needs to end. A cancel is never given up, by an interrupt or a wish for the end; where the host refuses it waits as it is;
// a reset is LAZY_E_INTERRUPTED or LAZY_E_HOST, and nothing has changed.
#include "big_lock.h"
#include "callers.h"

static big_lock lock;
static lazy_once once;
static hold work;
static uint64_t ticket;
static int dropped;
enum { OWNER_IS_GONE = 100 }; /* no status */

static int32_t needs_the_lock(void *ctx) {
    (void)ctx;
    int depth = big_let_go(&lock);
    int32_t result = held(&work);
    big_take_back(&lock, depth);
    return result;
}
static void drop(void *ctx) {
    (void)ctx;
    ADD(dropped, 1);
}
static lazy_status cancels(void *ctx) {
    (void)ctx;
    lazy_status status = lazy_once_cancel(&once, ticket);
    CHECK_IS(COUNT(dropped), 1); /* it was gone */
    return status;
}
static lazy_status cancels_owner(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_cancel_owner(&once, &work), 0);
    CHECK_IS(COUNT(dropped), 1);
    return OWNER_IS_GONE;
}
static lazy_status resets(void *ctx) {
    (void)ctx;
    return lazy_once_reset(&once);
}
static lazy_status (*const ways[])(void *) = { cancels, cancels_owner, resets };
static int way;
static lazy_status with_the_lock(void *ctx) {
    (void)ctx;
    big_take(&lock);
    lazy_status status = ways[COUNT(way)](NULL);
    CHECK_DEPTH(&lock, 1);
    big_give(&lock);
    return status;
}
static lazy_status refused(void *ctx) {
    big_refuses_me = 3;
    return ways[COUNT(way)](ctx);
}
static lazy_status wanted(int which, lazy_status of_reset) {
    return which == 0 ? LAZY_E_NOT_FOUND : which == 1 ? OWNER_IS_GONE : of_reset;
}

int main(void) {
    static lazy_status (*const kinds[])(void *) = { with_the_lock, refused };
    lazy_config config = LAZY_CONFIG_INIT;
    big_begin(&lock, 0, "lock");
    config.host = &lock.host;
    for (int which = 0; which < 3; which++) {
        for (int round = 0; round < 3; round++) { /* it waits; it is to give up; it is refused */
            caller owner, waiter;
            lazy_request request = LAZY_REQUEST_INIT;
            once = (lazy_once)LAZY_ONCE_WITH(&config);
            work = (hold)HOLD_INIT;
            SET(way, which);
            SET(dropped, 0);
            request.fn = needs_the_lock;
            request.drop = drop;
            request.owner = &work;
            ticket = queue_request(&once, request);
            begin(&owner, in_init, &once);
            gate_wait(&work.inside);
            begin(&waiter, kinds[round == 2], NULL);
            lazy_status of_reset = LAZY_OK;
            if (round == 2 && which == 2) {
                of_reset = LAZY_E_HOST;
                CHECK_IS(ended(&waiter), of_reset);
            } else {
                until_waiting(&waiter);
                CHECK_IS(COUNT(lock.parked), round < 2);
                for (int i = 0; i < 20; i++) {
                    big_interrupt(&lock, 0, 0);
                    until_waiting(&waiter);
                }
                if (round == 1 && which == 2) {
                    of_reset = LAZY_E_INTERRUPTED;
                    while (!big_interrupt(&lock, 0, 1)) sched_yield();
                    CHECK_IS(ended(&waiter), of_reset);
                } else if (round == 1) {
                    for (int before = COUNT(lock.waits); COUNT(lock.waits) < before + 5; sched_yield())
                        big_interrupt(&lock, 0, 1);
                    until_waiting(&waiter);
                }
            }
            CHECK_IS(info_of(&once).phase, LAZY_DRAINING);
            gate_open(&work.go);
            CHECK_IS(ended(&owner), LAZY_OK);
            if (of_reset == LAZY_OK) CHECK_IS(ended(&waiter), wanted(which, of_reset));
            CHECK_IS(COUNT(dropped), 1);
            CHECK_IS(lazy_once_is_initialized(&once), which < 2 || of_reset < 0);
            CHECK_IS(lazy_once_close(&once), LAZY_OK);
        }
    }
    return finish();
}
