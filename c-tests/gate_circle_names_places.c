// Guards against a refusal that says who waits for whom but not where it began: over three onces, each started by
// LAZY_INIT in a thread and a line of its own, the message has file and line of the start of every attempt in the circle.
#include "waiters.h"

enum { ONCES = 3 };
static lazy_once onces[ONCES];
static gate owned[ONCES] = { GATE_INIT, GATE_INIT, GATE_INIT };
static atomic_int lines[ONCES], ids[ONCES];

static int32_t needs_next(void *number) {
    intptr_t me = (intptr_t)number, next = (me + 1) % ONCES;
    gate_open(&owned[me]);
    for (int i = 0; i < ONCES; i++) gate_wait(&owned[i]);
    for (int i = 0; i < ONCES - 1 && me == ONCES - 1; i++) {
        while (!atomic_load(&ids[i])) sched_yield();
        until_asleep(atomic_load(&ids[i]));
    }
    atomic_store(&ids[me], thread_id());
    lazy_status status = LAZY_INIT(&onces[next]);
    if (me < ONCES - 1) {
        CHECK_IS(status, LAZY_OK);
        return 0;
    }
    CHECK_IS(status, LAZY_E_DEADLOCK);
    for (int i = 0; i < ONCES; i++) {
        char place[64];
        snprintf(place, sizeof place, "gate_circle_names_places.c:%d", atomic_load(&lines[i]));
        CHECK_HAS(lazy_last_error()->message, place);
    }
    return 0;
}
static lazy_status start_first(lazy_once *once) {
    atomic_store(&lines[0], __LINE__ + 1);
    return LAZY_INIT(once);
}
static lazy_status start_second(lazy_once *once) {
    atomic_store(&lines[1], __LINE__ + 1);
    return LAZY_INIT(once);
}
static lazy_status start_third(lazy_once *once) {
    atomic_store(&lines[2], __LINE__ + 1);
    return LAZY_INIT(once);
}

int main(void) {
    static lazy_status (*const starts[ONCES])(lazy_once *) = { start_first, start_second, start_third };
    static const char *const names[ONCES] = { "first", "second", "third" };
    lazy_config configs[ONCES];
    waiter threads[ONCES];
    for (intptr_t i = 0; i < ONCES; i++) {
        configs[i] = (lazy_config){ .size = sizeof(lazy_config), .name = names[i], .initialize = needs_next, .ctx = (void *)i };
        onces[i] = (lazy_once)LAZY_ONCE_WITH(&configs[i]);
    }
    for (int i = 0; i < ONCES; i++) waiter_start(&threads[i], &onces[i], starts[i]);
    for (int i = 0; i < ONCES; i++) CHECK_IS(waiter_join(&threads[i]), LAZY_OK);
    for (int i = 0; i < ONCES; i++) CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
    return finish();
}
