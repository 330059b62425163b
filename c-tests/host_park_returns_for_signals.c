// Guards against a signal that a host never gets to see, because park sleeps on: at EINTR it returns on any thread, on the
// main thread within 100 ms anyway, and the hook is called again until the attempt ends or the host gives up. A thread that
// is left alone parks once.
#include "big_lock.h"
#include "callers.h"
#include <signal.h>

static big_lock lock;
static lazy_once once;
static hold start_up = HOLD_INIT;
static int signals, gives_up;

static void on_signal(int number) {
    (void)number;
    ADD(signals, 1);
}
/* Looks for a signal when it has the lock back, as an interpreter does. */
static int32_t checks_signals(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    int32_t result = big_wait_detached(ctx, park, interrupt, arg);
    return COUNT(gives_up) && COUNT(signals) ? 1 : result;
}
static int32_t initialize(void *ctx) {
    int depth = big_let_go(&lock);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}
static void *lets_go_on(void *waits) {
    while (COUNT(lock.waits) < *(int *)waits + 3) sched_yield(); /* of the main thread, which nobody wakes */
    gate_open(&start_up.go);
    return NULL;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner, waiter;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal; /* without SA_RESTART */
    CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
    big_begin(&lock, 0, "lock");
    lock.host.wait_detached = checks_signals;
    config.initialize = initialize;
    config.ctx = &start_up;
    config.host = &lock.host;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);

    begin(&waiter, in_init, &once);
    until_waiting(&waiter);
    CHECK_IS(COUNT(lock.waits), 1);
    for (int i = 1; i <= 3; i++) {
        CHECK_IS(pthread_kill(waiter.thread, SIGUSR1), 0);
        while (COUNT(lock.waits) < 1 + i) sched_yield();
        until_waiting(&waiter);
    }
    CHECK_IS(COUNT(signals), 3);
    SET(gives_up, 1);
    CHECK_IS(pthread_kill(waiter.thread, SIGUSR1), 0);
    CHECK_IS(ended(&waiter), LAZY_E_INTERRUPTED);

    SET(gives_up, 0);
    int waits = COUNT(lock.waits);
    pthread_t helper = start(lets_go_on, &waits);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(ended(&owner), LAZY_OK);
    join(helper);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
