// Guards against a capture that takes what it must not: a slot without share is not captured, nor one that this thread has no
// value of, nor what other threads or the process have; what share gives, NULL as well as another value, is what is found and
// destroyed, once, and not the original.
#include "slots.h"

enum { THREADS = 4 };
static int nulls_destroyed;
static void *share_null(void *ctx, void *value) {
    (void)ctx, (void)value;
    return NULL;
}
static void destroy_any(void *ctx, uint32_t index, void *value) {
    if (value) destroy(ctx, index, value);
    else ADD(nulls_destroyed, 1);
}
static void *share_copy(void *ctx, void *value) {
    return new_item(ctx, COUNT(((item *)value)->index));
}
static lazy_slot_config configs[4] = { SHARED_ITEMS("copied"), SHARED_ITEMS("nothing"), ITEMS("private", LAZY_SLOT_THREAD),
                                       SHARED_ITEMS("not mine") };
static lazy_slot copied_slot = LAZY_SLOT_INIT(&configs[0]), null = LAZY_SLOT_INIT(&configs[1]),
                 private = LAZY_SLOT_INIT(&configs[2]), not_mine = LAZY_SLOT_INIT(&configs[3]);
static lazy_thread_state *state;
static item *original, *copy;

static void *looks(void *ctx) {
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    CHECK(get_present(&copied_slot, 7) == copy);
    CHECK(get_present(&copied_slot, 7) != original);
    CHECK(!lazy_slot_has(&copied_slot, 0));
    void *value = &value;
    CHECK(lazy_slot_has(&null, 7));
    CHECK_IS(lazy_slot_get(&null, 7, &value), LAZY_OK);
    CHECK(value == NULL);
    CHECK(!lazy_slot_has(&private, 7));
    CHECK(!lazy_slot_has(&not_mine, 7));
    get_new(&null, 8);
    get_new(&not_mine, 7);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    return ctx;
}
static void *captures(void *ctx) {
    original = get_new(&copied_slot, 7);
    get_new(&null, 7);
    get_new(&private, 7);
    int before = COUNT(made);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK_IS(COUNT(made), before + 1);
    CHECK_IS(COUNT(copied), 0);
    copy = &items[before];
    return ctx;
}

int main(void) {
    configs[0].share = share_copy;
    configs[1].share = share_null;
    configs[1].destroy = destroy_any;
    get_new(&not_mine, 7);
    join(start(captures, NULL));
    CHECK_IS(COUNT(original->references), 0);
    CHECK_IS(COUNT(copy->references), 1);
    for (int i = 0; i < THREADS; i++) join(start(looks, NULL));
    CHECK_IS(COUNT(copy->references), 1);
    lazy_thread_state_free(state);
    CHECK_IS(COUNT(copy->references), 0);
    CHECK_IS(COUNT(nulls_destroyed), 1);
    CHECK_IS(lazy_slot_retire(&not_mine), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
