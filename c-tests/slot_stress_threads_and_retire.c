// Guards against what only many interleavings show: threads come and go, make, set, capture and enter on slots of both scopes
// while others retire these one after the other. Nothing is destroyed twice, nothing is left: as many were destroyed as made.
#include "slots.h"

enum { SLOTS = 400, WINDOW = 8, SPAWNERS = 3, RETIRERS = 2, INDICES = 4 };
typedef struct counted { int alive; } counted;
static lazy_slot slots[SLOTS];
static int retired, many, made_all, destroyed_all;

static void *new_counted(void) {
    counted *c = (counted *)malloc(sizeof *c);
    CHECK(c != NULL);
    c->alive = 1;
    ADD(made_all, 1);
    return c;
}
static int32_t make_counted(void *ctx, uint32_t index, void **value) {
    (void)ctx;
    if (index == 3 && COUNT(made_all) % 5 == 0) return 1;
    *value = new_counted();
    return 0;
}
static void destroy_counted(void *ctx, uint32_t index, void *value) {
    (void)ctx, (void)index;
    free(value); /* twice is seen by the allocator */
    ADD(destroyed_all, 1);
}
static void *share_counted(void *ctx, void *value) {
    (void)ctx, (void)value;
    return new_counted();
}
static void *comes_and_goes(void *number) {
    unsigned seed = (unsigned)(uintptr_t)number * 2654435761u;
    lazy_thread_state *state = NULL;
    for (int i = 0; i < 24; i++) {
        seed = seed * 1103515245u + 12345u;
        lazy_slot *slot = &slots[((unsigned)COUNT(retired) + (seed >> 16) % WINDOW) % (unsigned)many];
        uint32_t index = (seed >> 24) % INDICES;
        void *value = NULL;
        lazy_status status = LAZY_OK;
        if (i == 8) {
            CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
            CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
        } else if (i == 20 && (seed >> 20) % 2) {
            CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
        } else if (i % 6 == 5) {
            value = new_counted();
            status = lazy_slot_set(slot, index, value);
            if (status != LAZY_OK) destroy_counted(NULL, 0, value);
        } else {
            status = lazy_slot_get(slot, index, &value);
        }
        CHECK(status == LAZY_OK || status == LAZY_E_CLOSED || (status == LAZY_E_CALLBACK && index == 3));
    }
    lazy_thread_state_free(state);
    return NULL;
}
static void *spawns(void *number) {
    for (uintptr_t i = (uintptr_t)number; COUNT(retired) < many; i += SPAWNERS) join(start(comes_and_goes, (void *)i));
    return NULL;
}
static void *retires(void *ctx) {
    for (int next; (next = ADD(retired, 1)) < many;) {
        CHECK_IS(lazy_slot_retire(&slots[next]), LAZY_OK);
        CHECK(!lazy_slot_has(&slots[next], 0));
        join(start(comes_and_goes, (void *)(uintptr_t)(next + 7777)));
    }
    return ctx;
}

int main(void) {
    lazy_slot_config configs[2] = { ITEMS("own", LAZY_SLOT_THREAD), ITEMS("common", LAZY_SLOT_PROCESS) };
    pthread_t threads[SPAWNERS + RETIRERS];
    many = (int)rounds(SLOTS);
    for (int i = 0; i < 2; i++) {
        configs[i].create = make_counted;
        configs[i].destroy = destroy_counted;
        configs[i].share = i ? NULL : share_counted;
    }
    for (int i = 0; i < many; i++) slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i % 2]);
    for (uintptr_t i = 0; i < SPAWNERS; i++) threads[i] = start(spawns, (void *)i);
    for (int i = 0; i < RETIRERS; i++) threads[SPAWNERS + i] = start(retires, NULL);
    for (int i = 0; i < SPAWNERS + RETIRERS; i++) join(threads[i]);
    CHECK_IS(COUNT(destroyed_all), COUNT(made_all));
    CHECK(COUNT(made_all) > many);
    return finish();
}
