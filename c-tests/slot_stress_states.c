// Guards against references that get lost between states: parents make, replace, capture, hand their state to workers that
// enter it, set inside, capture again, and leave or end inside; it is freed while they are at it. In the end every reference
// that was taken was given back.
#include "slots.h"

enum { PARENTS = 3, WORKERS = 3, SLOTS = 3 };
static lazy_slot slots[SLOTS];
static lazy_slot_config configs[SLOTS] = { SHARED_ITEMS("first"), SHARED_ITEMS("second"), ITEMS("private", LAZY_SLOT_THREAD) };
typedef struct family { lazy_thread_state *state; int entered; } family;

static void *worker(void *ctx) {
    family *f = (family *)ctx;
    lazy_thread_state *mine = NULL;
    unsigned seed = (unsigned)thread_id();
    CHECK_IS(lazy_thread_state_enter(f->state), LAZY_OK);
    ADD(f->entered, 1);
    for (int i = 0; i < 6; i++) {
        seed = seed * 1103515245u + 12345u;
        lazy_slot *slot = &slots[(seed >> 16) % SLOTS];
        uint32_t index = (seed >> 20) % 3;
        if (i % 3 == 2) CHECK_IS(lazy_slot_set(slot, index, new_item(NULL, index)), LAZY_OK);
        else get(slot, index);
        if (i == 3) {
            CHECK_IS(lazy_thread_state_capture(&mine), LAZY_OK);
            CHECK_IS(lazy_thread_state_enter(mine), LAZY_OK);
            lazy_thread_state_free(mine);
        }
    }
    if (seed >> 28 & 1) CHECK_IS(lazy_thread_state_leave(f->state), LAZY_OK);
    if (seed >> 29 & 1) CHECK_IS(lazy_thread_state_leave(mine), LAZY_OK);
    return NULL;
}
static void *parent(void *ctx) {
    for (long i = rounds(150); i > 0; i--) {
        family f = { NULL, 0 };
        pthread_t threads[WORKERS];
        for (int s = 0; s < SLOTS; s++)
            for (uint32_t index = 0; index < 2; index++) get(&slots[s], index);
        CHECK_IS(lazy_slot_set(&slots[0], 1, new_item(NULL, 1)), LAZY_OK);
        CHECK_IS(lazy_thread_state_capture(&f.state), LAZY_OK);
        for (int w = 0; w < WORKERS; w++) threads[w] = start(worker, &f);
        while (COUNT(f.entered) < WORKERS) sched_yield();
        lazy_thread_state_free(f.state);
        for (int w = 0; w < WORKERS; w++) join(threads[w]);
    }
    return ctx;
}

int main(void) {
    pthread_t threads[PARENTS];
    for (int i = 0; i < SLOTS; i++) slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
    for (int i = 0; i < PARENTS; i++) threads[i] = start(parent, NULL);
    for (int i = 0; i < PARENTS; i++) join(threads[i]);
    CHECK_BALANCE();
    for (int i = 0; i < COUNT(made); i++) CHECK_IS(COUNT(items[i].references), 0);
    return finish();
}
