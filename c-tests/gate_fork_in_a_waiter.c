// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// not-under: tsan: it holds a signal back until the interrupted thread returns from a blocking call that it knows
// Guards against a child that hangs because a signal handler forked while its thread waited for another thread's attempt:
// in the child that attempt is nobody's, so the wait ends and the thread initializes for itself.
#include "check.h"
#include "forked_child.h"
#include <signal.h>
#include <stdatomic.h>

static gate inside, finish_it;
static atomic_int forked;
static atomic_int child;
static int attempts;
static lazy_once once = LAZY_ONCE_INIT;

static int32_t slow(void *ctx) {
    (void)ctx;
    if (++attempts > 1) return 0;
    gate_open(&inside);
    gate_wait(&finish_it);
    return 0;
}
static void *owner(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_run(&once, slow, NULL), LAZY_OK);
    return NULL;
}
static void on_signal(int number) {
    (void)number;
    atomic_store(&child, fork());
    if (atomic_load(&child) == 0) alarm(10);
    atomic_store(&forked, 1);
}
static void *waiter(void *id) {
    gate_wait(&inside);
    atomic_store((atomic_int *)id, thread_id());
    CHECK_IS(lazy_once_run(&once, slow, NULL), LAZY_OK);
    if (atomic_load(&child) == 0) {
        CHECK_IS(attempts, 2);
        _exit(0);
    }
    return NULL;
}

int main(void) {
    atomic_int id = 0;
    signal(SIGUSR1, on_signal);
    atomic_store(&child, -1);
    pthread_t first = start(owner, NULL), second = start(waiter, &id);
    while (!atomic_load(&id)) sched_yield();
    until_asleep(atomic_load(&id));
    pthread_kill(second, SIGUSR1);
    while (!atomic_load(&forked)) sched_yield();
    check_child(atomic_load(&child));
    gate_open(&finish_it);
    join(first);
    join(second);
    return finish();
}
