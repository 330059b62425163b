// not-under: tsan asan valgrind: the processor's single steps are not for the tool's own code
// Guards against a lock that is free while threads sleep for it for ever: its holder wakes one of them, a signal handler interrupts that
// one before it has the lock, and the handler's lazy_dump sleeps for another lock, whose holder is the next in line for the first. At each
// instruction that the woken thread executes in the library until it has the lock.
#include "single_steps.h"
#if defined __x86_64__
#include <fcntl.h>

/* A bit of a once's first word; how many instructions come between the wake and the lock, at least. */
enum { LOCKED = 0x100, LAST = 60 };
static lazy_once once;
static atomic_int frozen, thaw, is_over, dumper, asker;
static int nowhere;
static lazy_status dumped;

static int is_locked(void) {
    return (atomic_load((_Atomic uint32_t *)&once) & LOCKED) != 0;
}
/* It stays where it is if that is inside the once's lock. */
static void freeze(int number) {
    (void)number;
    int before = errno;
    if (is_locked()) {
        atomic_store(&frozen, 1);
        while (!atomic_load(&thaw)) sched_yield();
    }
    errno = before;
}
static void *asks_often(void *ctx) {
    while (!atomic_load(&is_over)) info_of(&once);
    return ctx;
}
static void *asks_in_steps(void *ctx) {
    atomic_store(&asker, (int)thread_id());
    IN_SINGLE_STEPS(info_of(&once));
    return ctx;
}
static void *dumps(void *ctx) {
    atomic_store(&dumper, (int)thread_id());
    CHECK_IS(lazy_dump(nowhere), LAZY_OK);
    return ctx;
}
static void dump_there(uintptr_t offset) {
    (void)offset;
    dumped = lazy_dump(nowhere);
    CHECK(dumped == LAZY_OK || dumped == LAZY_E_DEADLOCK);
}
static void until_it_sleeps(atomic_int *thread) {
    while (!atomic_load(thread)) sched_yield();
    until_asleep(atomic_load(thread));
}

int main(void) {
    struct sigaction freezes = { .sa_handler = freeze, .sa_flags = SA_RESTART };
    stop_at_target(dump_there);
    CHECK_IS(sigaction(SIGUSR1, &freezes, NULL), 0);
    nowhere = open("/dev/null", O_WRONLY);
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
    int allowed = 0;
    for (int i = 0; i < LAST; i++) {
        atomic_store(&frozen, 0);
        atomic_store(&thaw, 0);
        atomic_store(&is_over, 0);
        atomic_store(&asker, 0);
        atomic_store(&dumper, 0);
        target = -1;
        dumped = LAZY_E_INVALID;
        pthread_t holder = start(asks_often, NULL);
        while (!atomic_load(&frozen)) CHECK_IS(pthread_kill(holder, SIGUSR1), 0);
        pthread_t steps_on = start(asks_in_steps, NULL);
        until_it_sleeps(&asker);
        pthread_t behind = start(dumps, NULL);
        until_it_sleeps(&dumper);
        target = steps + i;
        atomic_store(&is_over, 1);
        atomic_store(&thaw, 1);
        join(holder);
        join(steps_on);
        join(behind);
        CHECK(dumped != LAZY_E_INVALID);
        allowed += dumped == LAZY_OK;
    }
    printf("%d of %d dumps\n", allowed, LAST);
    CHECK(allowed > 5 && allowed < LAST); /* in the end it has the lock */
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
#endif
