// Guards against a policy that holds for one fork only: bound by LAZY_ONCE_WITH, so that nothing but the fork policy makes a
// ready once keep what it knows, each once is used again in the child, and its grandchild is treated as the child was.
#include "callers.h"
#include "forked_child.h"

enum { KEPT, POISONED, RESTARTED, UNTOUCHED, ONCES };
static atomic_int starts[ONCES];
static const lazy_config configs[ONCES] = {
    { .size = sizeof(lazy_config), .name = "kept", .initialize = count, .ctx = &starts[KEPT] },
    { .size = sizeof(lazy_config), .name = "poisoned", .initialize = count, .ctx = &starts[POISONED], .on_fork = LAZY_FORK_POISON },
    { .size = sizeof(lazy_config), .name = "restarted", .initialize = count, .ctx = &starts[RESTARTED], .on_fork = LAZY_FORK_RESET },
    { .size = sizeof(lazy_config), .name = "untouched", .initialize = count, .ctx = &starts[UNTOUCHED], .on_fork = LAZY_FORK_POISON },
};
static lazy_once onces[ONCES] = {
    LAZY_ONCE_WITH(&configs[KEPT]), LAZY_ONCE_WITH(&configs[POISONED]),
    LAZY_ONCE_WITH(&configs[RESTARTED]), LAZY_ONCE_WITH(&configs[UNTOUCHED]),
};
static char first_pid[16];

static void check_starts(int kept, int poisoned, int restarted, int untouched) {
    const int wanted[ONCES] = { kept, poisoned, restarted, untouched };
    for (int i = 0; i < ONCES; i++) CHECK_IS(atomic_load(&starts[i]), wanted[i]);
}
/* What every generation but the first finds of what its parent had initialized. */
static void check_inherited(const char *pid) {
    CHECK_IS(lazy_once_init(&onces[KEPT]), LAZY_OK);
    CHECK(!lazy_once_is_initialized(&onces[POISONED]) && !lazy_once_is_initialized(&onces[RESTARTED]));
    CHECK_IS(lazy_once_init(&onces[POISONED]), LAZY_E_FORKED);
    CHECK_HAS(lazy_last_error()->message, pid);
    CHECK_IS(info_of(&onces[RESTARTED]).phase, LAZY_FRESH);
}
static void grandchild_of_idle_child(void) {
    check_inherited(first_pid);
    CHECK_IS(lazy_once_init(&onces[UNTOUCHED]), LAZY_OK);
    check_starts(1, 1, 1, 1);
}
static void grandchild_of_busy_child(void) {
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)getppid());
    check_inherited(pid); /* whose success it was is said, not who was first */
    CHECK_IS(lazy_once_init(&onces[UNTOUCHED]), LAZY_E_FORKED);
    check_starts(1, 2, 2, 1);
}
static void child(void) {
    check_inherited(first_pid);
    in_child(grandchild_of_idle_child);
    CHECK_IS(lazy_once_init(&onces[RESTARTED]), LAZY_OK);
    CHECK_IS(lazy_once_init(&onces[UNTOUCHED]), LAZY_OK);
    CHECK_IS(lazy_once_reset(&onces[POISONED]), LAZY_OK);
    CHECK_IS(lazy_once_init(&onces[POISONED]), LAZY_OK);
    check_starts(1, 2, 2, 1);
    CHECK_IS(info_of(&onces[POISONED]).init_pid, getpid());
    in_child(grandchild_of_busy_child);
}

int main(void) {
    snprintf(first_pid, sizeof first_pid, "%d", (int)getpid());
    for (int i = 0; i < UNTOUCHED; i++) CHECK_IS(lazy_once_init(&onces[i]), LAZY_OK);
    in_child(child);
    in_child(child);
    for (int i = 0; i < UNTOUCHED; i++) CHECK(lazy_once_is_initialized(&onces[i]));
    check_starts(1, 1, 1, 0);
    for (int i = 0; i < ONCES; i++) CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
    return finish();
}
