// Guards against a void attempt that takes others with it: one thread starts three onces of different fork policies inside each
// other and forks in the innermost, in every order. In the child each of them comes out by its own policy: KEEP goes on,
// POISON and RESET return LAZY_E_FORKED when their initializers are back. In the parent all three come out well.
#include "callers.h"
#include "forked_child.h"

enum { DEPTH = 3 };
static const uint32_t orders[6][DEPTH] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
static const uint32_t *policies;
static lazy_once onces[DEPTH];
static pid_t child;

static lazy_status start_at(intptr_t depth);
static int32_t initialize(void *depth_given) {
    intptr_t depth = (intptr_t)depth_given;
    if (depth + 1 < DEPTH) {
        lazy_status status = start_at(depth + 1);
        CHECK_IS(status, child || policies[depth + 1] == LAZY_FORK_KEEP ? LAZY_OK : LAZY_E_FORKED);
        return 0;
    }
    fflush(NULL);
    child = fork();
    if (child != 0) return 0;
    alarm(20);
    for (int i = 0; i < DEPTH; i++) {
        CHECK_IS(lazy_once_is_initializing(&onces[i]), policies[i] == LAZY_FORK_KEEP);
        if (policies[i] == LAZY_FORK_KEEP) CHECK_IS(lazy_once_init(&onces[i]), LAZY_IN_PROGRESS);
        if (policies[i] == LAZY_FORK_POISON) CHECK_IS(lazy_once_init(&onces[i]), LAZY_E_FORKED);
    }
    return 0;
}
static lazy_status start_at(intptr_t depth) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.on_fork = policies[depth];
    CHECK_IS(lazy_once_configure(&onces[depth], &config), LAZY_OK);
    return lazy_once_run(&onces[depth], initialize, (void *)depth);
}
static void check_child_phases(lazy_status outermost) {
    static const uint32_t phases[] = { LAZY_READY, LAZY_FORKED, LAZY_FRESH }; /* by policy */
    CHECK_IS(outermost, policies[0] == LAZY_FORK_KEEP ? LAZY_OK : LAZY_E_FORKED);
    for (int i = 0; i < DEPTH; i++) {
        CHECK_IS(info_of(&onces[i]).phase, phases[policies[i]]);
        if (policies[i] == LAZY_FORK_POISON) CHECK_IS(lazy_once_reset(&onces[i]), LAZY_OK);
        CHECK_IS(lazy_once_run(&onces[i], nothing, NULL), LAZY_OK);
        CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
    }
}

int main(void) {
    for (int order = 0; order < 6; order++) {
        policies = orders[order];
        for (int i = 0; i < DEPTH; i++) onces[i] = (lazy_once)LAZY_ONCE_INIT;
        child = -1;
        lazy_status status = start_at(0);
        if (child == 0) {
            check_child_phases(status);
            _exit(0);
        }
        check_child(child);
        CHECK_IS(status, LAZY_OK);
        for (int i = 0; i < DEPTH; i++) {
            CHECK(lazy_once_is_initialized(&onces[i]));
            CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
        }
    }
    return finish();
}
