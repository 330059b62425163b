// not-under: tsan: it holds a signal back until the interrupted thread returns from a blocking call that it knows
// Guards against a wait that a signal ends, or whose limit starts anew with each signal: sleepers of every kind are hit again
// and again and sleep on until the attempt ends; one with a limit, under a storm that does not stop before it is back, times
// out.
#include "waiters.h"
#include <signal.h>

static lazy_once once;
static lazy_receipt running = LAZY_RECEIPT_INIT;
static atomic_int hits;

static void on_signal(int number) {
    (void)number;
    atomic_fetch_add(&hits, 1);
}
static lazy_status in_limited_init(lazy_once *gate) {
    return lazy_once_init_timeout(gate, 100000000);
}
static lazy_status in_long_init(lazy_once *gate) {
    return lazy_once_init_timeout(gate, 100000000000);
}
static lazy_status in_cancel(lazy_once *gate) {
    return lazy_once_cancel(gate, running.ticket);
}
static lazy_status in_cancel_owner(lazy_once *gate) {
    return lazy_once_cancel_owner(gate, &running) == 0 ? LAZY_OK : LAZY_E_INVALID;
}
static lazy_status (*const kinds[])(lazy_once *) = {
    wait_in_init, wait_in_run, wait_in_call, wait_in_submit, in_long_init, in_cancel, in_cancel_owner,
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };
static waiter waiters[KINDS], limited;

static int32_t storms(void *ctx) {
    (void)ctx;
    for (int i = 0; i < KINDS; i++) waiter_start(&waiters[i], &once, kinds[i]);
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < KINDS; i++) {
            waiter_asleep(&waiters[i]);
            int before = atomic_load(&hits);
            CHECK_IS(pthread_kill(waiters[i].thread, SIGUSR1), 0);
            while (atomic_load(&hits) == before) sched_yield();
        }
    waiter_start(&limited, &once, in_limited_init);
    while (atomic_load(&limited.status) == STILL_WAITING) {
        CHECK_IS(pthread_kill(limited.thread, SIGUSR1), 0);
        sched_yield();
    }
    CHECK_IS(waiter_join(&limited), LAZY_E_TIMEOUT);
    for (int i = 0; i < KINDS; i++) {
        waiter_asleep(&waiters[i]);
        CHECK_IS(atomic_load(&waiters[i].status), STILL_WAITING);
    }
    return 0;
}

int main(void) {
    signal(SIGUSR1, on_signal);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = storms;
    request.owner = &running;
    CHECK_IS(lazy_once_submit(&once, &request, &running), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    for (int i = 0; i < KINDS; i++) CHECK_IS(waiter_join(&waiters[i]), kinds[i] == in_cancel ? LAZY_E_NOT_FOUND : LAZY_OK);
    return finish();
}
