// not-under: tsan asan: the allocator of the tool is not made usable again in a child of a process with threads
// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a fork that finds several onces in states that do not fit together: two threads start, use and reset three
// onces, one from the first to the last and one from the last to the first, and the process forks at random moments. Each
// child starts all three inside each other, in one of both orders.
#include "callers.h"
#include "forked_child.h"

enum { ONCES = 3, CHILDREN = 100 };
static lazy_once onces[ONCES];
static atomic_int stop;

typedef struct walk { int at, step; } walk;
static int32_t descend(void *ctx) {
    walk next = *(walk *)ctx;
    next.at += next.step;
    return next.at >= 0 && next.at < ONCES && lazy_once_run(&onces[next.at], descend, &next) < 0;
}
/* A set whose owner is gone is nobody's here, and so can be started, in either order. */
static void child_goes(walk first) {
    for (int i = 0; i < ONCES; i++) CHECK_IS(lazy_once_reset(&onces[i]), LAZY_OK);
    CHECK_IS(lazy_once_run(&onces[first.at], descend, &first), LAZY_OK);
    for (int i = 0; i < ONCES; i++) CHECK(lazy_once_is_initialized(&onces[i]));
}
static void child_goes_up(void) { child_goes((walk){ 0, 1 }); }
static void child_goes_down(void) { child_goes((walk){ ONCES - 1, -1 }); }

static void *churns(void *upwards) {
    while (!atomic_load(&stop))
        for (int i = 0; i < ONCES; i++) {
            lazy_once *once = &onces[upwards ? i : ONCES - 1 - i];
            CHECK(lazy_once_call(once, nothing, NULL) >= 0);
            CHECK(lazy_once_init(once) >= 0);
            lazy_once_reset(once);
        }
    return NULL;
}

int main(void) {
    pthread_t up = start(churns, &stop), down = start(churns, NULL);
    for (long i = rounds(CHILDREN); i > 0; i--) in_child(i % 2 ? child_goes_up : child_goes_down);
    atomic_store(&stop, 1);
    join(up);
    join(down);
    return finish();
}
