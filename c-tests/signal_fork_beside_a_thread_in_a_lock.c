// not-under: tsan asan valgrind: the processor's single steps are not for the tool's own code
// Guards against a child that waits for a thread which is gone: a signal handler forks at each instruction that the library executes for a
// call that waits for another thread's attempt, or for the end of what that runs, while that thread is in the middle of a change of the
// once. What the call has found before is nobody's in the child: there it starts the attempt itself, or has nothing to wait for.
#include "single_steps.h"
#if defined __x86_64__

/* A bit of a once's first word; how long a call has to come to its wait; up to which instruction, as one that finds the lock taken looks on. */
enum { LOCKED = 0x100, LOOKS = 30000, LAST = 900 };
static lazy_once *once;
static long children;
static atomic_int begun, inside, acts, finish_now, is_over, frozen, thaw;
static pthread_t other;

static int is_locked(void) {
    return (atomic_load((_Atomic uint32_t *)once) & LOCKED) != 0;
}
/* On the other thread: it stays where it is for a while, if that is inside the lock. A fork handler that is not inside any waits for it. */
static void freeze(int number) {
    (void)number;
    int before = errno;
    if (is_locked()) {
        atomic_store(&frozen, 1);
        for (int i = 0; i < 2000 && !atomic_load(&thaw); i++) sched_yield();
    }
    atomic_fetch_add(&begun, 1);
    errno = before;
}
/* False if this thread is inside the lock itself. */
static int freeze_other(void) {
    int tries = 0;
    while (is_locked())
        if (tries++ > 100) return 0;
        else sched_yield();
    atomic_store(&thaw, 0);
    atomic_store(&frozen, 0);
    for (tries = 0; tries < 1000; tries++) {
        int before = atomic_load(&begun);
        CHECK_IS(pthread_kill(other, SIGUSR1), 0);
        while (atomic_load(&begun) == before) {
            if (atomic_load(&frozen)) return 1;
            if (atomic_load(&is_over)) return 0;
        }
    }
    return 0;
}
static void fork_beside_the_other(uintptr_t offset) {
    if (freeze_other()) {
        fork_there(offset);
        if (is_child) return;
        children++;
    }
    atomic_store(&thaw, 1);
    atomic_store(&finish_now, 1);
}
static int32_t is_asked_meanwhile(void *ctx) {
    (void)ctx;
    if (is_child) return 0;
    atomic_store(&inside, 1);
    for (int looks = 0; looks < LOOKS && !atomic_load(&finish_now); looks += atomic_load(&acts)) info_of(once);
    atomic_store(&is_over, 1);
    return 0;
}
static void *initializes(void *ctx) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK_IS(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    return ctx;
}

typedef lazy_status call_of_main(uint64_t ticket);
static lazy_status init(uint64_t ticket) {
    (void)ticket;
    return lazy_once_init_slow(once, NULL);
}
static lazy_status cancel(uint64_t ticket) {
    lazy_status status = lazy_once_cancel(once, ticket);
    return status == LAZY_E_NOT_FOUND ? LAZY_OK : status; /* it may have run */
}

/* In the child nobody else is, and the once can be used. */
static void end_of_child(lazy_status status) {
    CHECK(status >= 0);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
    _exit(0);
}
static void at_each_instruction_of(call_of_main *call, lazy_fn initializer, lazy_fn queued) {
    lazy_config config = { .size = sizeof config, .initialize = initializer };
    lazy_request request = { .size = sizeof request, .fn = queued };
    children = 0;
    for (target = getpid() % 2; target < LAST; target += 2) {
        lazy_once fresh = LAZY_ONCE_WITH(&config);
        lazy_receipt receipt = LAZY_RECEIPT_INIT;
        once = &fresh;
        atomic_store(&inside, 0);
        atomic_store(&acts, 0);
        atomic_store(&finish_now, 0);
        atomic_store(&is_over, 0);
        CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_QUEUED);
        other = start(initializes, NULL);
        while (!atomic_load(&inside)) sched_yield();
        atomic_store(&acts, 1);
        lazy_status status;
        IN_SINGLE_STEPS(status = call(receipt.ticket));
        if (is_child) end_of_child(status);
        CHECK(status >= 0);
        atomic_store(&finish_now, 1);
        join(other);
        CHECK_IS(lazy_once_close(once), LAZY_OK);
    }
    printf("%ld children\n", children);
    CHECK(children > 0); /* a busy machine lets few come about */
}

int main(void) {
    struct sigaction freezes = { .sa_handler = freeze, .sa_flags = SA_RESTART };
    stop_at_target(fork_beside_the_other);
    CHECK_IS(sigaction(SIGUSR1, &freezes, NULL), 0);
    at_each_instruction_of(init, is_asked_meanwhile, nothing);
    at_each_instruction_of(cancel, nothing, is_asked_meanwhile);
    return finish();
}
#endif
