// Guards against a destructor at the end of a thread that finds the table gone, or makes values that nobody destroys: it looks
// up and sets its own slot, slots destroyed before it and slots never used on that thread, more often than a pthread key's
// destructor would be called again. It never finds the value that is being destroyed.
#include "slots.h"

enum { AGAIN = 20, SLOTS = 3 };
static lazy_slot slots[SLOTS], unused;
static __thread int again;

static void destroy_and_use(void *ctx, uint32_t index, void *value) {
    lazy_slot *self = (lazy_slot *)COUNT(*(lazy_slot **)ctx);
    CHECK(!lazy_slot_has(self, index));
    if (again < AGAIN) {
        again++;
        CHECK(get(self, index) != value);
        for (int i = 0; i < SLOTS; i++) get(&slots[i], index + (uint32_t)again);
    } else if (again < 2 * AGAIN) {
        again++;
        item *fresh = new_item(ctx, index);
        CHECK_IS(lazy_slot_set(self, index, fresh), LAZY_OK);
        CHECK(get(self, index) == fresh);
    } else if (again == 2 * AGAIN) {
        again++;
        get(&unused, 0);
    }
    destroy(ctx, index, value);
}
static void *makes(void *ctx) {
    (void)ctx;
    for (int i = 0; i < SLOTS; i++)
        for (uint32_t index = 0; index < 3; index++) get_new(&slots[i], index);
    return NULL;
}

int main(void) {
    static lazy_slot *selves[SLOTS];
    lazy_slot_config configs[SLOTS + 1];
    for (int i = 0; i < SLOTS; i++) {
        selves[i] = &slots[i];
        configs[i] = (lazy_slot_config){ .size = sizeof(lazy_slot_config), .name = "busy", .ctx = &selves[i], .create = make,
                                         .destroy = destroy_and_use };
        slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
    }
    configs[SLOTS] = (lazy_slot_config)ITEMS("late", LAZY_SLOT_THREAD);
    unused = (lazy_slot)LAZY_SLOT_INIT(&configs[SLOTS]);
    for (int thread = 0; thread < 4; thread++) {
        int before = COUNT(made);
        join(start(makes, NULL));
        CHECK(COUNT(made) > before + SLOTS * 3 + 2 * AGAIN);
        CHECK_BALANCE();
    }
    for (int i = 0; i < COUNT(made); i++) CHECK_IS(items[i].destroyer, items[i].maker);
    return finish();
}
