// Guards against factories of the process scope that wait for each other for ever: two that want each other's value on two
// threads, three in a ring, and a factory and an initializer that want each other, whichever comes last. Exactly one get or
// init is LAZY_E_DEADLOCK and names every part; a wait with a limit is no part of a circle.
#include "callers.h"
#include "slots.h"

enum { MOST = 3 };
static lazy_slot slots[MOST];
static lazy_once once;
static int parts, refusals;
static pthread_barrier_t inside;
static caller other;
static gate limited = GATE_INIT;

static int32_t wants_the_next(void *ctx, uint32_t index, void **value) {
    int me = (int)(intptr_t)ctx;
    void *next = NULL;
    pthread_barrier_wait(&inside);
    lazy_status status = lazy_slot_get(&slots[(me + 1) % parts], 0, &next);
    if (status == LAZY_E_DEADLOCK) {
        static const char *const names[MOST] = { "alpha", "beta", "gamma" };
        ADD(refusals, 1);
        for (int i = 0; i < parts; i++) CHECK_HAS(lazy_last_error()->message, names[i]);
    } else {
        CHECK_IS(status, LAZY_OK);
        CHECK(next != NULL);
    }
    return make(ctx, index, value);
}
static void ring(int size) {
    lazy_slot_config configs[MOST] = { ITEMS("alpha", LAZY_SLOT_PROCESS), ITEMS("beta", LAZY_SLOT_PROCESS),
                                       ITEMS("gamma", LAZY_SLOT_PROCESS) };
    caller callers[MOST];
    look_up look_ups[MOST];
    parts = size;
    SET(refusals, 0);
    pthread_barrier_init(&inside, NULL, (unsigned)size);
    for (int i = 0; i < size; i++) {
        configs[i].create = wants_the_next;
        configs[i].ctx = (void *)(intptr_t)i;
        slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
    }
    for (int i = 0; i < size; i++) {
        look_ups[i] = (look_up){ &slots[i], 0, NULL };
        begin(&callers[i], in_get, &look_ups[i]);
    }
    for (int i = 0; i < size; i++) CHECK_IS(ended(&callers[i]), LAZY_OK);
    CHECK_IS(COUNT(refusals), 1);
    for (int i = 0; i < size; i++) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
    pthread_barrier_destroy(&inside);
    CHECK_BALANCE();
}

/* The names of the parts of the circle that goes through the once. */
static void check_both_named(lazy_status status) {
    CHECK_IS(status, LAZY_E_DEADLOCK);
    CHECK_HAS(lazy_last_error()->message, "driver");
    CHECK_HAS(lazy_last_error()->message, "handle");
    ADD(refusals, 1);
}
static int32_t gets_the_handle(void *ctx) {
    (void)ctx;
    get(&slots[0], 0);
    return 0;
}
static int32_t starts_the_other_way_round(void *ctx) {
    void *value;
    begin(&other, in_get, ctx);
    until_waiting(&other);
    check_both_named(lazy_slot_get(&slots[0], 0, &value));
    return 0;
}
static int32_t lets_it_come_too_late(void *ctx) {
    begin(&other, in_get, ctx);
    gate_wait(&limited);
    get(&slots[0], 0); /* waits for the other's limit, and is no circle */
    return 0;
}
static int32_t handle_closes_it(void *ctx, uint32_t index, void **value) {
    begin(&other, in_init, &once);
    until_waiting(&other);
    check_both_named(lazy_once_init(&once));
    return make(ctx, index, value);
}
static int32_t handle_waits(void *ctx, uint32_t index, void **value) {
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return make(ctx, index, value);
}
static int32_t handle_has_a_limit(void *ctx, uint32_t index, void **value) {
    gate_open(&limited);
    CHECK_IS(lazy_once_init_timeout(&once, 300000000), LAZY_E_TIMEOUT);
    return make(ctx, index, value);
}
static void through_a_once(int32_t (*create)(void *, uint32_t, void **), lazy_fn initialize, int wanted) {
    lazy_slot_config handle = ITEMS("handle", LAZY_SLOT_PROCESS);
    lazy_config driver = { .size = sizeof driver, .name = "driver", .initialize = initialize };
    look_up l = { &slots[0], 0, NULL };
    handle.create = create;
    driver.ctx = &l;
    slots[0] = (lazy_slot)LAZY_SLOT_INIT(&handle);
    once = (lazy_once)LAZY_ONCE_WITH(&driver);
    SET(refusals, 0);
    if (create == handle_closes_it) get(&slots[0], 0);
    else CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(ended(&other), LAZY_OK);
    CHECK_IS(COUNT(refusals), wanted);
    CHECK(lazy_once_is_initialized(&once));
    CHECK_IS(lazy_slot_retire(&slots[0]), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_BALANCE();
}

int main(void) {
    for (long i = rounds(100); i > 0; i--) {
        ring(2);
        ring(3);
    }
    through_a_once(handle_closes_it, gets_the_handle, 1);
    through_a_once(handle_waits, starts_the_other_way_round, 1);
    through_a_once(handle_has_a_limit, lets_it_come_too_late, 0);
    return finish();
}
