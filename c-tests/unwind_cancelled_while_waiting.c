// flags: -fexceptions
// Guards against a waiter that takes something with it: threads that wait in init, run, call, submit, reset and cancel are
// cancelled there, with the deferred kind. The wait is no place to end, so each comes back when the attempt does, ends at its
// next cancellation point, and neither a waiter count, a wake, a request nor a circle of waits is left behind.
#include "callers.h"
#include "waiters.h"

enum { KINDS = 6 };
static lazy_once once;
static hold stopped;
static uint64_t ticket;
static atomic_int came_back, ids[KINDS];

/* A call, so that the address sanitizer clears this stack before it: it does not when a thread is cancelled. */
__attribute__((noinline)) _Noreturn static void end_here(void) {
    pthread_testcancel();
    CHECK(!"it was cancelled");
    abort();
}
static void *waits(void *kind_given) {
    intptr_t kind = (intptr_t)kind_given;
    atomic_store(&ids[kind], thread_id());
    switch (kind) {
        case 0: lazy_once_init(&once); break;
        case 1: lazy_once_run(&once, nothing, NULL); break;
        case 2: lazy_once_call(&once, handed_in, NULL); break;
        case 3: wait_in_submit(&once); break;
        case 4: lazy_once_reset(&once); break;
        case 5: lazy_once_cancel(&once, ticket); break;
    }
    atomic_fetch_add(&came_back, 1);
    end_here();
}
static void cancel_all(int fails) {
    pthread_t threads[KINDS];
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    caller owner;
    once = (lazy_once)LAZY_ONCE_INIT;
    stopped = (hold)HOLD_INIT;
    atomic_store(&came_back, 0);
    request.fn = held;
    request.ctx = &stopped;
    CHECK_IS(lazy_once_submit(&once, &request, &receipt), LAZY_QUEUED);
    ticket = receipt.ticket;
    begin(&owner, in_init, &once);
    gate_wait(&stopped.inside);
    for (intptr_t i = 0; i < KINDS; i++) {
        atomic_store(&ids[i], 0);
        threads[i] = start(waits, (void *)i);
        while (!atomic_load(&ids[i])) sched_yield();
        until_asleep(atomic_load(&ids[i]));
    }
    CHECK_IS(info_of(&once).waiters, 4); /* reset and cancel do not want to use it */
    for (int i = 0; i < KINDS; i++) CHECK_IS(pthread_cancel(threads[i]), 0);
    for (int i = 0; i < KINDS; i++) until_asleep(atomic_load(&ids[i]));
    CHECK_IS(atomic_load(&came_back), 0);
    atomic_store(&stopped.code, fails);
    gate_open(&stopped.go);
    ended(&owner);
    for (int i = 0; i < KINDS; i++) CHECK(join(threads[i]) == PTHREAD_CANCELED);
    CHECK_IS(atomic_load(&came_back), KINDS);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_E_NOT_FOUND);
    while (lazy_once_init(&once) != LAZY_OK) CHECK(fails);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    cancel_all(0);
    cancel_all(5);
    return finish();
}
