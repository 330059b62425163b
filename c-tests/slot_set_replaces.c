// Guards against a replaced value that is lost, or destroyed while others may use it: a thread's own is destroyed at once, on
// that thread; one of the process when the slot is retired, one of a state when that is freed. The same pointer again changes
// nothing; a value that a destructor stores meanwhile is destroyed as well. Inside the factory of that value it is refused.
#include "slots.h"

static lazy_slot slot;
static lazy_thread_state *state;

static item *replace(uint32_t index) {
    item *fresh = new_item(NULL, index);
    CHECK_IS(lazy_slot_set(&slot, index, fresh), LAZY_OK);
    CHECK(get_present(&slot, index) == fresh);
    CHECK_IS(lazy_slot_set(&slot, index, fresh), LAZY_OK);
    CHECK_IS(COUNT(fresh->references), 1);
    return fresh;
}
static void *looks(void *wanted) {
    CHECK(lazy_slot_has(&slot, 0));
    CHECK(get(&slot, 0) == wanted);
    return NULL;
}
static void begin_with(const lazy_slot_config *config) {
    slot = (lazy_slot)LAZY_SLOT_INIT(config);
}
static void own(void) {
    static const lazy_slot_config config = SHARED_ITEMS("own");
    begin_with(&config);
    item *first = get_new(&slot, 0), *second = replace(0);
    CHECK_IS(COUNT(first->references), 0);
    CHECK_IS(COUNT(first->destroyer), thread_id());
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    item *third = replace(0), *fourth = replace(0); /* in the state */
    CHECK_IS(COUNT(second->references), 2);
    CHECK_IS(COUNT(third->references), 1);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    CHECK(get_present(&slot, 0) == second);
    lazy_thread_state_free(state);
    CHECK_IS(COUNT(second->references), 1);
    CHECK_IS(COUNT(third->references) + COUNT(fourth->references), 0);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_BALANCE();
}
static void of_the_process(void) {
    static const lazy_slot_config config = ITEMS("common", LAZY_SLOT_PROCESS);
    begin_with(&config);
    item *all[50];
    all[0] = get_new(&slot, 0);
    for (int i = 1; i < 50; i++) {
        all[i] = replace(0);
        join(start(looks, all[i]));
    }
    for (int i = 0; i < 50; i++) CHECK_IS(COUNT(all[i]->references), 1);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_BALANCE();
}
static void destroy_and_set(void *ctx, uint32_t index, void *value) {
    static int again;
    destroy(ctx, index, value);
    if (++again < 10) CHECK_IS(lazy_slot_set(&slot, index, new_item(NULL, index)), LAZY_OK);
}
static void *in_destructor(void *ctx) {
    get_new(&slot, 0);
    CHECK_IS(lazy_slot_set(&slot, 0, new_item(NULL, 0)), LAZY_OK);
    return ctx;
}
static int32_t make_and_set(void *ctx, uint32_t index, void **value) {
    CHECK_IS(lazy_slot_set(&slot, index, &slot), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_slot_set(&slot, index + 1, new_item(ctx, index + 1)), LAZY_OK);
    return make(ctx, index, value);
}

int main(void) {
    lazy_slot_config setting = { .size = sizeof setting, .name = "setting", .create = make, .destroy = destroy_and_set };
    own();
    of_the_process();
    begin_with(&setting);
    join(start(in_destructor, NULL));
    CHECK_BALANCE();
    for (setting.scope = 0; setting.scope < 2; setting.scope++) {
        setting.create = make_and_set;
        setting.destroy = destroy;
        begin_with(&setting);
        get_new(&slot, 0);
        get_present(&slot, 1);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_BALANCE();
    }
    return finish();
}
