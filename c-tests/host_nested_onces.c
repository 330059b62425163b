// Guards against a wait that lets go only the host of the once it waits for: the initializer of one once needs another,
// which a third thread is initializing; over one host and over two, the innermost let go first, each once however often the
// thread is inside it. They are taken back in the order in which they were taken, so that nothing is held while a lock is
// asked for that comes before it. A host that need not be let go is left alone on the way.
#include "big_lock.h"
#include "callers.h"

static big_lock hosts[2][2], free_host; /* two that are taken in one order, and two in the other */
static big_lock *first, *second;
static lazy_once outer, middle, inner;
static hold start_up;
static lazy_config outer_config = LAZY_CONFIG_INIT, middle_config = LAZY_CONFIG_INIT, inner_config = LAZY_CONFIG_INIT;
static int outer_runs, middle_runs;

/* Attaches, and has no lock. */
static int32_t run_free(void *ctx, void (*body)(void *arg), void *arg) {
    (void)ctx;
    body(arg);
    return 0;
}
static int32_t needs_inner(void *ctx) {
    (void)ctx;
    ADD(middle_runs, 1);
    CHECK_IS(lazy_once_init(&inner), LAZY_OK);
    return 0;
}
static int32_t needs_middle(void *ctx) {
    (void)ctx;
    ADD(outer_runs, 1);
    CHECK_IS(lazy_once_init(&middle), LAZY_OK);
    return 0;
}
static int32_t inner_start(void *ctx) { /* lets its host go, as an import does */
    big_lock *l = (big_lock *)ctx;
    int depth = big_let_go(l);
    held(&start_up);
    big_take_back(l, depth);
    return 0;
}
static lazy_status in_outer(void *holds) {
    big_lock *held_by_it = holds;
    if (holds) big_take(held_by_it);
    lazy_status status = lazy_once_init(&outer);
    CHECK_DEPTH(first, holds == first);
    CHECK_DEPTH(second, holds == second);
    if (holds) big_give(held_by_it);
    return status;
}
static void nest(big_lock *of_outer, big_lock *of_middle, big_lock *of_inner, const char *wanted, int holds) {
    caller a, b;
    big_lock *outermost = of_outer == &free_host ? of_middle : of_outer;
    big_lock *innermost = wanted[1] == 'A' ? outermost : outermost == first ? second : first;
    start_up = (hold)HOLD_INIT;
    outer_config.host = &of_outer->host;
    middle_config.host = &of_middle->host;
    inner_config.host = &of_inner->host;
    inner_config.ctx = of_inner;
    outer = (lazy_once)LAZY_ONCE_WITH(&outer_config);
    middle = (lazy_once)LAZY_ONCE_WITH(&middle_config);
    inner = (lazy_once)LAZY_ONCE_WITH(&inner_config);
    SET(outer_runs, 0);
    SET(middle_runs, 0);
    begin(&b, in_init, &inner);
    gate_wait(&start_up.inside);
    begin(&a, in_outer, holds ? of_outer : NULL);
    until_waiting(&a);
    big_take(outermost); /* both can be had now, also while it takes them back */
    big_interrupt(outermost, 0, 0);
    while (COUNT(outermost->parked)) sched_yield();
    until_waiting(&a);
    CHECK_IS(pthread_mutex_trylock(&innermost->mutex), outermost == innermost ? EBUSY : 0);
    if (outermost != innermost) pthread_mutex_unlock(&innermost->mutex);
    big_give(outermost);
    big_until_parked(outermost, 1);
    until_waiting(&a);
    gate_open(&start_up.go);
    CHECK_IS(ended(&a), LAZY_OK);
    CHECK_IS(ended(&b), LAZY_OK);
    char twice[16];
    snprintf(twice, sizeof twice, "%s%s", wanted, wanted);
    CHECK_TRAIL(twice);
    CHECK_IS(COUNT(outer_runs), 1);
    CHECK_IS(COUNT(middle_runs), 1);
    CHECK_IS(atomic_load(&start_up.runs), 1);
    CHECK_IS(lazy_once_close(&outer), LAZY_OK);
    CHECK_IS(lazy_once_close(&middle), LAZY_OK);
    CHECK_IS(lazy_once_close(&inner), LAZY_OK);
}

int main(void) {
    outer_config.initialize = needs_middle;
    middle_config.initialize = needs_inner;
    inner_config.initialize = inner_start;
    for (int i = 0; i < 4; i++) {
        big_begin(&hosts[i / 2][i % 2], i, i % 2 ? "second" : "first");
        hosts[i / 2][i % 2].letter = i % 2 ? 'b' : 'a';
    }
    big_begin(&free_host, 4, "free");
    free_host.host.run_attached = run_free;
    free_host.host.wait_detached = NULL;
    for (int holds = 0; holds < 2; holds++) {
        first = &hosts[0][0], second = &hosts[0][1];
        nest(first, first, first, "aA", holds);
        nest(first, second, second, "baAB", holds);
        nest(first, first, second, "baAB", holds);
        nest(first, &free_host, second, "baAB", holds);
        nest(first, second, first, "baAB", holds);
        nest(&free_host, first, second, "baAB", false);
        first = &hosts[1][0], second = &hosts[1][1];
        nest(second, first, first, "abBA", holds);
    }
    return finish();
}
