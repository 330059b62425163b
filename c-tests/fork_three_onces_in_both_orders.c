// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a fork that takes the locks of several onces in an order that somebody else reverses: one thread starts a, b
// and c inside each other, another c, b and a, the process forks while both are at it, from outside and from the innermost
// initializer, and each child starts them in both orders.
#include "callers.h"
#include "forked_child.h"

enum { ONCES = 3 };
static lazy_once onces[2][ONCES], *used;
static hold innermost[2] = { HOLD_INIT, HOLD_INIT };
static atomic_int is_child;

typedef struct walk { lazy_once *onces; int at, step, set; } walk;
static void fork_from_inside(void);
static int32_t descend(void *ctx) {
    walk next = *(walk *)ctx;
    next.at += next.step;
    if (next.at >= 0 && next.at < ONCES) return lazy_once_run(&next.onces[next.at], descend, &next) < 0;
    if (next.set < 0 || atomic_load(&is_child)) return 0;
    if (next.set == 1) fork_from_inside();
    return held(&innermost[next.set]);
}
static lazy_status in_order(lazy_once *set, int step, int number) {
    walk first = { set, step > 0 ? 0 : ONCES - 1, step, number };
    return lazy_once_run(&set[first.at], descend, &first);
}
static void *goes_up(void *set) { CHECK_IS(in_order((lazy_once *)set, 1, 0), LAZY_OK); return NULL; }
static void *goes_down(void *set) { CHECK_IS(in_order((lazy_once *)set, -1, 1), LAZY_OK); return NULL; }

/* The set of another thread is nobody's here, and so can be started, in either order. */
static void child_goes(int step) {
    atomic_store(&is_child, 1);
    for (int i = 0; i < ONCES; i++) CHECK_IS(lazy_once_reset(&used[i]), LAZY_OK);
    CHECK_IS(in_order(used, step, -1), LAZY_OK);
    for (int i = 0; i < ONCES; i++) CHECK(lazy_once_is_initialized(&used[i]));
}
static void child_goes_up(void) { child_goes(1); }
static void child_goes_down(void) { child_goes(-1); }
static void in_own_attempt(void) {
    atomic_store(&is_child, 1);
    for (int i = 0; i < ONCES; i++) CHECK_IS(lazy_once_init(&onces[1][i]), LAZY_IN_PROGRESS);
    child_goes_up();
}
static void fork_from_inside(void) {
    used = onces[0];
    in_child(in_own_attempt);
}
int main(void) {
    pthread_t up = start(goes_up, onces[0]), down;
    gate_wait(&innermost[0].inside);
    down = start(goes_down, onces[1]);
    gate_wait(&innermost[1].inside);
    for (int set = 0; set < 2; set++) {
        used = onces[set];
        in_child(child_goes_up);
        in_child(child_goes_down);
    }
    for (int i = 0; i < 2; i++) gate_open(&innermost[i].go);
    join(up);
    join(down);
    return finish();
}
