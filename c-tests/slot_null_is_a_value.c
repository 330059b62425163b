// Guards against NULL taken for no value: a factory that gives it runs once, has is true, get gives it, destroy and share are
// called for it once; so it is with one that was set; and zeroed memory is a slot without a factory.
#include "slots.h"

static int nulls_made, nulls_destroyed, nulls_shared;
static int32_t make_null(void *ctx, uint32_t index, void **value) {
    (void)ctx, (void)index;
    ADD(nulls_made, 1);
    *value = NULL;
    return 0;
}
static void destroy_null(void *ctx, uint32_t index, void *value) {
    (void)ctx, (void)index;
    CHECK(value == NULL);
    ADD(nulls_destroyed, 1);
}
static void *share_null(void *ctx, void *value) {
    (void)ctx;
    CHECK(value == NULL);
    ADD(nulls_shared, 1);
    return NULL;
}
static lazy_slot slot;
static void check_null(uint32_t index) {
    void *value = &value;
    CHECK_IS(lazy_slot_get(&slot, index, &value), LAZY_OK);
    CHECK(value == NULL);
    CHECK(lazy_slot_has(&slot, index));
}
static void *uses(void *ctx) {
    for (int i = 0; i < 3; i++) check_null(0);
    return ctx;
}

int main(void) {
    for (uint32_t scope = 0; scope < 2; scope++) {
        lazy_slot_config config = { sizeof config, "void", NULL, make_null, destroy_null, share_null, NULL, scope, 0 };
        lazy_thread_state *state = NULL;
        nulls_made = nulls_destroyed = nulls_shared = 0;
        slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        join(start(uses, NULL));
        uses(NULL);
        CHECK_IS(nulls_made, scope ? 1 : 2);
        CHECK_IS(nulls_destroyed, !scope);
        CHECK_IS(lazy_slot_set(&slot, 3, NULL), LAZY_OK);
        check_null(3);
        CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
        lazy_thread_state_free(state);
        CHECK_IS(nulls_destroyed, !scope + nulls_shared);
        if (!scope) CHECK_IS(nulls_shared, 2);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_IS(nulls_destroyed, nulls_made + nulls_shared + 1);
    }
    memset((void *)&slot, 0, sizeof slot);
    CHECK(!lazy_slot_has(&slot, 0));
    check_get(&slot, 0, LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_slot_set(&slot, 0, &slot), LAZY_OK);
    CHECK(lazy_slot_has(&slot, 0));
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    return finish();
}
