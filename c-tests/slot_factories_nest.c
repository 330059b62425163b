// Guards against tables that move under a factory: each factory asks for the next value before it gives its own, two hundred
// deep, across slots, indices and scopes, and with states entered in between; all are found afterwards at their places.
#include "slots.h"

enum { SLOTS = 5, DEPTH = 200 };
static lazy_slot slots[SLOTS];
static lazy_thread_state *state;

static int32_t make_after_the_next(void *ctx, uint32_t index, void **value) {
    int bottom = index + 1 >= DEPTH * 3;
    if (index % 7 == 0) CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    if (!bottom) get_new(&slots[(index + 3) % SLOTS], index + 3);
    if (index % 7 == 0) CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    return make(ctx, index, value);
}

int main(void) {
    lazy_slot_config configs[SLOTS];
    for (uint32_t i = 0; i < SLOTS; i++) {
        configs[i] = (lazy_slot_config)ITEMS("nested", i % 2);
        configs[i].create = make_after_the_next;
        slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
    }
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    item *top = get(&slots[2], 2);
    CHECK_IS(COUNT(made), DEPTH);
    for (uint32_t index = 2; index < DEPTH * 3; index += 3) {
        item *found = get_present(&slots[index % SLOTS], index);
        CHECK_IS(COUNT(found->index), index);
        CHECK(found == &items[DEPTH - 1 - (index - 2) / 3]);
    }
    CHECK(top == &items[DEPTH - 1]);
    CHECK_IS(COUNT(made), DEPTH);
    for (int i = 0; i < SLOTS; i++) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
    lazy_thread_state_free(state);
    CHECK_BALANCE();
    return finish();
}
