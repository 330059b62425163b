// not-under: tsan asan valgrind: the processor's single steps are not for the tool's own code
// Guards against a child that dies of a fork in a signal handler: at one instruction in some twenty that the library executes for an attempt with
// queued calls of both kinds, others in each run, its thread forks; whatever the policy, the child goes on and its init ends honestly, and what
// is its own is known to be: a call inside a queued one under KEEP, a call of on_event.
#include "single_steps.h"
#if defined __x86_64__

enum { STRIDE = 23, STRIDE_OBSERVED = 499 /* of many more, to find out what places are called */ };

static uint32_t on_fork;

static int32_t calls_in(void *once) {
    lazy_status status = lazy_once_call((lazy_once *)once, nothing, NULL);
    bool own = lazy_once_is_initializing((lazy_once *)once);
    if (is_child && on_fork != LAZY_FORK_KEEP) return 0;
    CHECK_IS(status, LAZY_OK);
    CHECK(own);
    return 0;
}
static void sees(void *ctx, const lazy_event *event) { (void)ctx, (void)event; }

static void any_instruction(uint32_t policy, int observed) {
    lazy_config config = { .size = sizeof config, .initialize = nothing, .on_fork = policy };
    lazy_request request = { .size = sizeof request, .fn = nothing, .key = 5 };
    lazy_observer observer = { .size = sizeof observer, .on_event = sees };
    on_fork = policy;
    long stride = observed ? STRIDE_OBSERVED : STRIDE;
    for (target = getpid() % stride;; target += stride) {
        lazy_once once = LAZY_ONCE_WITH(&config);
        CHECK_IS(lazy_once_call(&once, calls_in, &once), LAZY_QUEUED);
        CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
        if (observed) CHECK_IS(lazy_set_observer(&observer), LAZY_OK);
        lazy_status status;
        IN_SINGLE_STEPS(status = lazy_once_init_slow(&once, NULL));
        CHECK_IS(lazy_set_observer(NULL), LAZY_OK);
        if (is_child) _exit(status == LAZY_OK || status == LAZY_E_FORKED ? 0 : 2);
        CHECK_IS(status, LAZY_OK);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        if (steps <= target) break;
    }
    CHECK(target > 500);
}

int main(void) {
    stop_at_target(fork_there);
    for (uint32_t policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) any_instruction(policy, 0);
    any_instruction(LAZY_FORK_KEEP, 1);
    return finish();
}
#endif
