// preload: failing_malloc.c
// not-under: asan tsan valgrind: the tool has an allocator of its own, which does not refuse
// Guards against an abort, and against a value that is made or copied and then lost, when memory runs out: with the allocator
// refusing at each call in turn, get, set, capture and enter succeed or are LAZY_E_NOMEM and leave nothing behind; a thread
// that ends, and a retire, need none.
#include "slots.h"
#include <dlfcn.h>

enum { SLOTS = 3, INDICES = 4 };
static void (*allocations_left)(long);
static lazy_slot slots[SLOTS];
static lazy_slot_config configs[SLOTS] = { SHARED_ITEMS("own"), ITEMS("common", LAZY_SLOT_PROCESS), SHARED_ITEMS("more") };
static int ran_short;

/* Whether it succeeded; if not, memory ran out and is back. */
static bool succeeded(lazy_status status) {
    if (status == LAZY_OK) return true;
    allocations_left(-1);
    CHECK_IS(status, LAZY_E_NOMEM);
    CHECK_IS(lazy_last_error()->status, LAZY_E_NOMEM);
    ran_short = 1;
    return false;
}
static void *uses(void *most) {
    lazy_thread_state *state = NULL;
    void *value = NULL;
    allocations_left((long)(intptr_t)most);
    for (uint32_t i = 0; i < SLOTS * INDICES; i++) {
        lazy_slot *slot = &slots[i % SLOTS];
        uint32_t index = i / SLOTS * 1000;
        if (!succeeded(lazy_slot_get(slot, index, &value))) {
            CHECK(!lazy_slot_has(slot, index));
            CHECK_IS(lazy_slot_get(slot, index, &value), LAZY_OK);
        }
        CHECK(lazy_slot_has(slot, index));
    }
    item *mine = new_item(NULL, 9);
    if (!succeeded(lazy_slot_set(&slots[0], 9, mine))) {
        CHECK_IS(COUNT(mine->references), 1);
        CHECK_IS(lazy_slot_set(&slots[0], 9, mine), LAZY_OK);
    }
    CHECK(get_present(&slots[0], 9) == mine);
    int taken = COUNT(copied), given_back = COUNT(destroyed);
    if (!succeeded(lazy_thread_state_capture(&state))) {
        CHECK_IS(COUNT(copied) - taken, COUNT(destroyed) - given_back);
        CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    }
    if (!succeeded(lazy_thread_state_enter(state))) CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    item *inside = new_item(NULL, 9);
    if (!succeeded(lazy_slot_set(&slots[2], 9, inside))) CHECK_IS(lazy_slot_set(&slots[2], 9, inside), LAZY_OK);
    allocations_left(0);
    CHECK(get_present(&slots[0], 9) == mine);
    lazy_thread_state_free(state);
    return NULL; /* leaves, and ends, without memory */
}
static void *retires_without_memory(void *ctx) {
    void *value;
    CHECK_IS(lazy_slot_get(&slots[2], 0, &value), LAZY_OK);
    allocations_left(0);
    for (int i = 0; i < SLOTS; i++) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
    allocations_left(-1);
    return ctx;
}
static bool runs_short_with(long most) {
    for (int i = 0; i < SLOTS; i++) slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
    ran_short = 0;
    SET(made, 0);
    SET(destroyed, 0);
    SET(copied, 0);
    join(start(uses, (void *)(intptr_t)most));
    allocations_left(-1);
    join(start(retires_without_memory, NULL));
    CHECK_BALANCE();
    return ran_short;
}

int main(void) {
    *(void **)&allocations_left = dlsym(RTLD_DEFAULT, "allocations_left");
    CHECK(allocations_left != NULL);
    CHECK_IS(lazy_slot_get(NULL, 0, NULL), LAZY_E_INVALID); /* what a thread's first failure needs is there */
    long most = 0;
    while (runs_short_with(most)) most++;
    CHECK(most > 3);
    CHECK(!runs_short_with(-1));
    for (int tries = 0; tries < 20; tries++) {
        char name[32];
        snprintf(name, sizeof name, "scarce %d", tries);
        allocations_left(tries);
        lazy_slot *slot = lazy_slot_named(name);
        allocations_left(-1);
        CHECK(slot != NULL || lazy_last_error()->status == LAZY_E_NOMEM);
        CHECK(lazy_slot_named(name) != NULL);
        CHECK(slot == NULL || slot == lazy_slot_named(name));
    }
    return finish();
}
