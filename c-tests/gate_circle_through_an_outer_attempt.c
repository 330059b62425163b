// Guards against a search that looks only at the innermost attempt of a thread: one thread starts a, inside it b, inside it c,
// and there needs x, whose thread waits for a, b or c. That is a circle, whichever of the two comes last; and x, started
// inside nothing, is not refused while the three are still going on.
#include "waiters.h"

enum { DEPTH = 3 };
static lazy_once onces[DEPTH], x;
static int awaited;
static bool x_is_last;
static gate at_bottom, x_owned;
static atomic_int bottom_id, x_id, refused;

static void need(lazy_once *once, atomic_int *me, atomic_int *after) {
    if (after) {
        while (!atomic_load(after)) sched_yield();
        until_asleep(atomic_load(after));
    }
    atomic_store(me, thread_id());
    CHECK_IS(lazy_once_init(once), after ? LAZY_E_DEADLOCK : LAZY_OK);
    if (after) atomic_fetch_add(&refused, 1);
}
static int32_t initialize(void *depth) {
    intptr_t mine = (intptr_t)depth;
    if (mine + 1 < DEPTH) {
        CHECK_IS(lazy_once_run(&onces[mine + 1], initialize, (void *)(mine + 1)), LAZY_OK);
        return 0;
    }
    gate_open(&at_bottom);
    gate_wait(&x_owned);
    need(&x, &bottom_id, x_is_last ? NULL : &x_id);
    return 0;
}
static int32_t initialize_x(void *ctx) {
    (void)ctx;
    gate_open(&x_owned);
    gate_wait(&at_bottom);
    need(&onces[awaited], &x_id, x_is_last ? &bottom_id : NULL);
    return 0;
}
static lazy_status start_x(lazy_once *once) {
    return lazy_once_run(once, initialize_x, NULL);
}

int main(void) {
    for (int i = 0; i < 2 * DEPTH; i++) {
        waiter other;
        awaited = i / 2;
        x_is_last = i % 2;
        for (int j = 0; j < DEPTH; j++) onces[j] = (lazy_once)LAZY_ONCE_INIT;
        x = (lazy_once)LAZY_ONCE_INIT;
        at_bottom = x_owned = (gate)GATE_INIT;
        atomic_store(&bottom_id, 0);
        atomic_store(&x_id, 0);
        waiter_start(&other, &x, start_x);
        CHECK_IS(lazy_once_run(&onces[0], initialize, NULL), LAZY_OK);
        CHECK_IS(waiter_join(&other), LAZY_OK);
        CHECK_IS(atomic_load(&refused), i + 1);
    }
    return finish();
}
