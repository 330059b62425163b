// not-under: tsan asan valgrind: the processor's single steps are not for the tool's own code
// Guards against a queued call that runs twice, or never, because a signal handler forked between two of them: at each instruction that
// the library executes for an initialization with calls in its queue. In the child each of them has run once when the once is ready, as
// in the parent: the one that ran at the fork, and those before it, are done with, and the others are not.
#include "single_steps.h"
#if defined __x86_64__

/* The last call begins before as many instructions as are looked at one by one; the message of a failure takes many more. */
enum { CALLS = 3, ALL = 800, SOME = 30000, STRIDE = 997 };
static int ran[CALLS];
static long children;

/* What comes before it is no part of this. */
static __attribute__((noinline)) int32_t initialize(void *ctx) {
    (void)ctx;
    if (!is_child && steps < 0) BEGIN_SINGLE_STEPS();
    return 0;
}
static int32_t counts(void *ctx) {
    ++*(int *)ctx;
    return 0;
}
/* It stays for the next attempt. */
static int32_t fails_at_first(void *ctx) {
    return ++*(int *)ctx == 1;
}
static void fork_and_count(uintptr_t offset) {
    fork_there(offset);
    children += !is_child;
}
/* The one that fails may be done with, where it ran at the fork. */
static void check_in_child(lazy_once *once, lazy_status status, int most) {
    CHECK(status == LAZY_OK || status == LAZY_E_FORKED || status == LAZY_E_DEFERRED);
    status = lazy_once_init(once);
    if (status == LAZY_E_DEFERRED && most > 1) status = lazy_once_init(once);
    if (status != LAZY_OK || ran[0] != 1 || ran[1] < 1 || ran[1] > most || ran[2] != 1) {
        fprintf(stderr, "the calls ran %d, %d and %d times, and init said %s\n", ran[0], ran[1], ran[2], lazy_status_string(status));
        _exit(1);
    }
    CHECK_IS(lazy_once_close(once), LAZY_OK);
    _exit(0);
}
/* True if that many instructions are all. */
static int fork_at(long instruction, uint32_t on_fork, int fails) {
    lazy_config config = { .size = sizeof config, .initialize = initialize, .on_fork = on_fork };
    lazy_once once = LAZY_ONCE_WITH(&config);
    target = instruction;
    for (int i = 0; i < CALLS; i++) {
        ran[i] = 0;
        CHECK_IS(lazy_once_call(&once, fails && i == 1 ? fails_at_first : counts, &ran[i]), LAZY_QUEUED);
    }
    steps = -1;
    lazy_status status = lazy_once_init(&once);
    END_SINGLE_STEPS();
    if (is_child) check_in_child(&once, status, 1 + fails);
    CHECK_IS(status, fails ? LAZY_E_DEFERRED : LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK(ran[0] == 1 && ran[1] == 1 + fails && ran[2] == 1);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return steps <= instruction;
}

int main(void) {
    static const uint32_t policies[] = { LAZY_FORK_KEEP, LAZY_FORK_RESET };
    stop_at_target(fork_and_count);
    for (int i = 0; i < 4; i++) {
        int fails = i % 2;
        long instruction = fails ? ALL / 2 : 0, last = fails ? SOME : ALL;
        children = 0;
        while (instruction < last && !fork_at(instruction, policies[i / 2], fails)) instruction += instruction < ALL ? 1 : STRIDE;
        printf("%ld instructions, %ld children\n", instruction, children);
        CHECK(children >= ALL / 2);
    }
    return finish();
}
#endif
