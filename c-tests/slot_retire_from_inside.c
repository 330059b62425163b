// Guards against a retire that waits for its own caller: from inside a factory or a destructor of the slot, or from deeper
// inside another slot's, it is LAZY_IN_PROGRESS at once, while a retire on another thread waits too. Two factories that retire
// each other's slots are a certain circle: one is LAZY_E_DEADLOCK.
#include "callers.h"
#include "slots.h"

static lazy_slot slot, inner, crossed[2];
static caller outsider;
static int asked, refused, deep, outside;
static pthread_barrier_t inside;

static void ask(void) {
    CHECK_IS(lazy_slot_retire(&slot), LAZY_IN_PROGRESS);
    ADD(asked, 1);
}
static void ask_beside_another(void) {
    if (COUNT(deep)) get(&inner, (uint32_t)COUNT(made));
    else ask();
    if (COUNT(outside) && ADD(outside, -1) == 1) {
        begin(&outsider, in_retire, &slot);
        until_waiting(&outsider);
        ask();
    }
}
static int32_t make_asking(void *ctx, uint32_t index, void **value) {
    ask_beside_another();
    return make(ctx, index, value);
}
static int32_t make_inside(void *ctx, uint32_t index, void **value) {
    ask();
    return make(ctx, index, value);
}
static void destroy_asking(void *ctx, uint32_t index, void *value) {
    ask_beside_another();
    destroy(ctx, index, value);
}
static void *makes(void *ctx) {
    void *value = NULL;
    lazy_status status = lazy_slot_get(&slot, 0, &value);
    CHECK(status == LAZY_OK || (status == LAZY_E_CLOSED && ctx)); /* from inside nothing changes, from outside it does */
    return ctx;
}
static void from_inside(bool factory, uint32_t scope, int is_deep, int beside) {
    lazy_slot_config config = ITEMS("asked", scope), inner_config = ITEMS("inner", scope);
    if (factory) config.create = make_asking;
    else config.destroy = destroy_asking;
    inner_config.create = make_inside;
    slot = (lazy_slot)LAZY_SLOT_INIT(&config);
    inner = (lazy_slot)LAZY_SLOT_INIT(&inner_config);
    SET(asked, 0);
    SET(deep, is_deep);
    SET(outside, beside);
    join(start(makes, beside ? &outsider : NULL));
    if (beside && COUNT(outside) == 0) CHECK(ended(&outsider) == LAZY_OK);
    else CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    if (beside && !factory && scope) CHECK_IS(ended(&outsider), LAZY_OK); /* only now did it run */
    CHECK_IS(COUNT(asked), 1 + beside);
    check_get(&slot, 0, LAZY_E_CLOSED);
    CHECK_IS(lazy_slot_retire(&inner), LAZY_OK);
    CHECK_BALANCE();
}
static int32_t make_crossing(void *ctx, uint32_t index, void **value) {
    pthread_barrier_wait(&inside);
    lazy_status status = lazy_slot_retire(&crossed[1 - (intptr_t)ctx]);
    CHECK(status == LAZY_OK || status == LAZY_E_DEADLOCK);
    ADD(refused, status == LAZY_E_DEADLOCK);
    return make(ctx, index, value);
}
static void two_that_cross(void) {
    lazy_slot_config configs[2] = { ITEMS("left", LAZY_SLOT_THREAD), ITEMS("right", LAZY_SLOT_THREAD) };
    look_up look_ups[2];
    caller callers[2];
    pthread_barrier_init(&inside, NULL, 2);
    SET(refused, 0);
    for (intptr_t i = 0; i < 2; i++) {
        configs[i].create = make_crossing;
        configs[i].ctx = (void *)i;
        crossed[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
        look_ups[i] = (look_up){ &crossed[i], 0, NULL };
    }
    for (int i = 0; i < 2; i++) begin(&callers[i], in_get, &look_ups[i]);
    for (int i = 0; i < 2; i++) {
        lazy_status status = ended(&callers[i]);
        CHECK(status == LAZY_OK || status == LAZY_E_CLOSED);
    }
    CHECK_IS(COUNT(refused), 1);
    for (int i = 0; i < 2; i++) CHECK_IS(lazy_slot_retire(&crossed[i]), LAZY_OK);
    pthread_barrier_destroy(&inside);
    CHECK_BALANCE();
}

int main(void) {
    for (int i = 0; i < 16; i++) from_inside(i & 1, i >> 1 & 1 ? LAZY_SLOT_PROCESS : LAZY_SLOT_THREAD, i >> 2 & 1, i >> 3 & 1);
    for (long i = rounds(100); i > 0; i--) two_that_cross();
    return finish();
}
