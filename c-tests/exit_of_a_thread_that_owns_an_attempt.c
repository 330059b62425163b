// not-under: tsan asan valgrind: what a longjmp skips is not freed, and the tools follow the stack
// Guards against an attempt that outlives its thread: one that left its initializer or its queued request by longjmp returns,
// calls pthread_exit or is cancelled, without another call into the library. The end of the thread ends the attempt as
// failed, its waiters hear of it at once, and the queue is whole for the next.
#include "thread_ends.h"
#include "waiters.h"
#include <setjmp.h>

enum { RETURNS = WAYS, ENDS };
static lazy_once once;
static __thread jmp_buf outside;
static waiter waiters[2];
static ending end;
static int has_left;

static int32_t leaves(void *ctx) {
    (void)ctx;
    if (has_left++) return 0;
    waiter_start(&waiters[0], &once, wait_in_init);
    waiter_start(&waiters[1], &once, wait_in_call);
    for (int i = 0; i < 2; i++) waiter_asleep(&waiters[i]);
    longjmp(outside, 1);
}
static void *owns_and_ends(void *how) {
    if (setjmp(outside) == 0) {
        lazy_once_init(&once);
        CHECK(!"the callback was left");
    }
    if ((intptr_t)how != RETURNS) end_here(&end);
    return NULL;
}
static void end_owner(int how, int in_drain) {
    lazy_config config = { .size = sizeof config, .name = "abandoned", .initialize = in_drain ? own_initializer : leaves };
    once = (lazy_once)LAZY_ONCE_INIT;
    has_left = 0;
    atomic_store(&handed_in_ran, 0);
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    if (in_drain) CHECK_IS(lazy_once_call(&once, leaves, NULL), LAZY_QUEUED);
    CHECK_IS(wait_in_call(&once), LAZY_QUEUED);
    end = ENDING((way)how);
    pthread_t thread = start(owns_and_ends, (void *)(intptr_t)how);
    if (how == RETURNS) join(thread);
    else end_thread(&end, thread);
    CHECK_IS(waiter_join(&waiters[0]), in_drain ? LAZY_E_DEFERRED : LAZY_E_INIT);
    CHECK_HAS(waiters[0].message, "thread");
    CHECK_IS(waiter_join(&waiters[1]), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&handed_in_ran), 2);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    alarm(20);
    for (int how = 0; how < ENDS; how++)
        for (int in_drain = 0; in_drain < 2; in_drain++) end_owner(how, in_drain);
    return finish();
}
