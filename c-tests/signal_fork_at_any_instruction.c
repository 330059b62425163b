// not-under: tsan asan valgrind: the processor's single steps are not for the tool's own code
// Guards against a child that dies of a fork in a signal handler: at one instruction in eleven that the library executes for an attempt with
// queued calls of both kinds, others in each run, its thread forks; whatever the policy, the child goes on and its init ends honestly.
#if defined __x86_64__
#include "single_steps.h"

enum { STRIDE = 11 };

static void any_instruction(uint32_t policy) {
    lazy_config config = { .size = sizeof config, .initialize = nothing, .on_fork = policy };
    lazy_request request = { .size = sizeof request, .fn = nothing, .key = 5 };
    for (target = getpid() % STRIDE;; target += STRIDE) {
        lazy_once once = LAZY_ONCE_WITH(&config);
        CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
        lazy_status status;
        IN_SINGLE_STEPS(status = lazy_once_init_slow(&once, NULL));
        if (is_child) _exit(status == LAZY_OK || status == LAZY_E_FORKED ? 0 : 2);
        CHECK_IS(status, LAZY_OK);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        if (steps <= target) break;
    }
    CHECK(target > 500);
}

int main(void) {
    stop_at_target(fork_there);
    for (uint32_t policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) any_instruction(policy);
    return finish();
}
#else
#include <stdio.h>
int main(void) {
    fputs("single steps are written for x86-64 only\n", stderr);
    return 77;
}
#endif
