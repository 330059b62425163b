// Guards against a factory that waits for itself: the value it is making, asked for directly, through another index, another
// slot or a once, is LAZY_E_DEADLOCK with the slot's name, in both scopes; the factory can go on, and other indices of the
// same slot are made inside it.
#include "callers.h"
#include "slots.h"

enum { DIRECTLY, THROUGH_INDEX, THROUGH_SLOT, THROUGH_ONCE, WAYS };
static lazy_slot slots[2];
static lazy_once once;
static int way, refused;

static int32_t wants_it(void *slot) {
    check_get((lazy_slot *)slot, 0, LAZY_E_DEADLOCK);
    CHECK_HAS(lazy_last_error()->message, "selfish");
    CHECK(!lazy_slot_has((lazy_slot *)slot, 0));
    refused++;
    return 0;
}
static int32_t make_selfish(void *ctx, uint32_t index, void **value) {
    if (index == 5 || (ctx && way == THROUGH_SLOT)) {
        wants_it(&slots[0]);
    } else if (index == 0) {
        get(&slots[0], 9); /* not this one */
        if (way == DIRECTLY) wants_it(&slots[0]);
        if (way == THROUGH_INDEX) get(&slots[0], 5);
        if (way == THROUGH_SLOT) get(&slots[1], 0);
        if (way == THROUGH_ONCE) CHECK_IS(lazy_once_run(&once, wants_it, &slots[0]), LAZY_OK);
    }
    return make(ctx, index, value);
}

int main(void) {
    lazy_slot_config configs[2] = { ITEMS("selfish", 0), ITEMS("other", 0) };
    for (uint32_t scopes = 0; scopes < 4; scopes++)
        for (way = 0; way < WAYS; way++) {
            for (int i = 0; i < 2; i++) {
                configs[i].create = make_selfish;
                configs[i].scope = scopes >> i & 1;
                slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
            }
            configs[1].ctx = &slots[1];
            once = (lazy_once)LAZY_ONCE_INIT;
            refused = 0;
            item *mine = get(&slots[0], 0);
            CHECK_IS(refused, 1);
            CHECK(get_present(&slots[0], 0) == mine);
            for (int i = 0; i < 2; i++) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
            CHECK_BALANCE();
        }
    return finish();
}
