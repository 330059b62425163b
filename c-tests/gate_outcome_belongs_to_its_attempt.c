// not-under: tsan: it holds a signal back until the interrupted thread returns from a blocking call that it knows
// Guards against a waiter that answers for what happened after the attempt that it waited for: held in a signal handler
// while that attempt fails and the next succeeds, it returns the failure; while it succeeds and the once is reset,
// LAZY_OK. A waiter in call looks again instead: it runs on what is ready now, and is queued on what is fresh now.
#include "callers.h"
#include <signal.h>

enum { WAITERS = 4 };
static int let_go[2];
static atomic_int held_back, ran;
static caller owner, waiters[WAITERS];

static void on_signal(int number) {
    char byte;
    (void)number;
    atomic_fetch_add(&held_back, 1);
    while (read(let_go[0], &byte, 1) < 0) {}
}
static lazy_status in_counting_call(void *once) { return lazy_once_call((lazy_once *)once, count, &ran); }
static lazy_status in_counting_submit(void *once) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = count;
    request.ctx = &ran;
    lazy_status status = lazy_once_submit((lazy_once *)once, &request, &receipt);
    CHECK_IS(receipt.outcome, status == LAZY_OK ? LAZY_RAN_AFTER_WAIT : LAZY_OUTCOME_QUEUED);
    return status;
}
static lazy_status (*const ways[WAITERS])(void *) = { in_init, in_run, in_counting_call, in_counting_submit };

/* Runs an attempt with this result while all of them wait for it; they are still in their handlers afterwards. */
static void attempt(lazy_once *once, hold *start_up, int code) {
    atomic_store(&held_back, 0);
    atomic_store(&ran, 0);
    atomic_store(&start_up->code, code);
    begin(&owner, in_init, once);
    gate_wait(&start_up->inside);
    for (int i = 0; i < WAITERS; i++) {
        begin(&waiters[i], ways[i], once);
        until_waiting(&waiters[i]);
        CHECK_IS(pthread_kill(waiters[i].thread, SIGUSR1), 0);
        while (atomic_load(&held_back) <= i) sched_yield();
    }
    gate_open(&start_up->go);
    CHECK_IS(ended(&owner), code ? LAZY_E_INIT : LAZY_OK);
}
static void release(lazy_status of_init, lazy_status of_call) {
    CHECK_IS(write(let_go[1], "....", WAITERS), WAITERS);
    for (int i = 0; i < WAITERS; i++) CHECK_IS(ended(&waiters[i]), i < 2 ? of_init : of_call);
    for (int i = 0; i < 2 && of_init < 0; i++) {
        CHECK_IS(waiters[i].error.code, 7);
        CHECK_IS(waiters[i].error.attempt, 1);
        CHECK_HAS(waiters[i].message, "it was held and failed");
        CHECK(!strcmp(waiters[i].message, owner.message));
    }
}

int main(void) {
    static hold start_up[3] = { HOLD_INIT, HOLD_INIT, HOLD_INIT };
    static lazy_once onces[3];
    lazy_config config = LAZY_CONFIG_INIT;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_IS(pipe(let_go), 0);
    config.name = "held back";
    config.initialize = held;
    for (int i = 0; i < 3; i++) {
        config.ctx = &start_up[i];
        CHECK_IS(lazy_once_configure(&onces[i], &config), LAZY_OK);
    }
    attempt(&onces[0], &start_up[0], 7);
    atomic_store(&start_up[0].code, 0);
    CHECK_IS(lazy_once_init(&onces[0]), LAZY_OK);
    release(LAZY_E_INIT, LAZY_OK);
    CHECK_IS(atomic_load(&ran), 2);

    attempt(&onces[1], &start_up[1], 0);
    CHECK_IS(lazy_once_reset(&onces[1]), LAZY_OK);
    release(LAZY_OK, LAZY_QUEUED);
    CHECK_IS(atomic_load(&ran), 0);

    attempt(&onces[2], &start_up[2], 0); /* the next attempt fails, which is none of their business */
    CHECK_IS(lazy_once_reset(&onces[2]), LAZY_OK);
    atomic_store(&start_up[2].code, 9);
    CHECK_IS(lazy_once_init(&onces[2]), LAZY_E_INIT);
    release(LAZY_OK, LAZY_QUEUED);
    return finish();
}
