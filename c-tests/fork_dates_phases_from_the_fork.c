// Guards against a phase in a child that is older than the child: a once that the fork made fresh or unusable has been so since the fork.
#include "forked_child.h"
#include "callers.h"

static lazy_once once;
static uint64_t forked_ns;
static uint32_t phase;
static int is_reset; /* no attempt since then */
static hold inside = HOLD_INIT;

static void child(void) {
    lazy_info info = info_of(&once);
    CHECK_IS(info.phase, phase);
    CHECK(is_reset ? info.since_ns == 0 : info.since_ns >= forked_ns);
}
static void *initializes_it(void *ctx) {
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return ctx;
}
static void forks(uint32_t on_fork, uint32_t found, int beside) {
    lazy_config config = { .size = sizeof config, .name = "dated", .initialize = beside ? held : nothing, .ctx = &inside, .on_fork = on_fork };
    once = (lazy_once)LAZY_ONCE_INIT;
    inside = (hold)HOLD_INIT;
    phase = found;
    is_reset = on_fork == LAZY_FORK_RESET;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    pthread_t owner = start(initializes_it, NULL);
    if (beside) gate_wait(&inside.inside);
    else join(owner);
    forked_ns = now_ns();
    in_child(child);
    gate_open(&inside.go);
    if (beside) join(owner);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    forks(LAZY_FORK_POISON, LAZY_FORKED, 0);
    forks(LAZY_FORK_POISON, LAZY_FORKED, 1);
    forks(LAZY_FORK_KEEP, LAZY_FRESH, 1);
    forks(LAZY_FORK_RESET, LAZY_FRESH, 1);
    return finish();
}
