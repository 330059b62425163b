// Guards against a look-up or a thread's end that is slow, or loses values, when there are many slots: ten thousand on one
// thread, on a second one at the same time, captured and retired one by one.
#include "slots.h"

enum { SLOTS = 10000 };
static lazy_slot slots[SLOTS];
static lazy_slot_config configs[2] = { SHARED_ITEMS("one of many"), ITEMS("of all", LAZY_SLOT_PROCESS) };
static lazy_thread_state *state;
static int many;

static void *uses(void *captures) {
    for (int i = 0; i < many; i++) get(&slots[i], (uint32_t)i % 5);
    for (int i = many - 1; i >= 0; i--) get_present(&slots[i], (uint32_t)i % 5);
    if (captures) CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    return NULL;
}
static void *enters(void *ctx) {
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    for (int i = 0; i < many; i++) get_present(&slots[i], (uint32_t)i % 5);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    return ctx;
}

int main(void) {
    many = (int)rounds(SLOTS);
    int common = (many + 9) / 10;
    for (int i = 0; i < many; i++) slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i % 10 == 0]);
    pthread_t first = start(uses, NULL), second = start(uses, &state);
    join(first);
    join(second);
    CHECK_IS(COUNT(made), 2 * many - common);
    CHECK_IS(COUNT(destroyed), 2 * (many - common));
    CHECK_IS(COUNT(copied), many - common);
    join(start(enters, NULL));
    uses(NULL);
    for (int i = 0; i < many; i += 2) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
    for (int i = 0; i < many; i++) CHECK_IS(lazy_slot_has(&slots[i], (uint32_t)i % 5), i % 2);
    lazy_thread_state_free(state);
    for (int i = 1; i < many; i += 2) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
