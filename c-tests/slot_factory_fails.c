// Guards against a failed factory that leaves something behind: LAZY_E_CALLBACK with its code, its text and the slot's name,
// no value, no destroy, and the next get tries again; in both scopes, with waiters of the failed try, which share the failure.
#include "callers.h"
#include "slots.h"

enum { WAITERS = 4 };
static int failures, calls;
static hold first;

static int32_t make_in_the_end(void *ctx, uint32_t index, void **value) {
    ADD(calls, 1);
    if (ADD(failures, -1) <= 0) return make(ctx, index, value);
    *value = &failures; /* what a failing factory leaves there is no value */
    return lazy_fail(40 + (int32_t)index, "the device fell off the bus");
}
static int32_t fails_once_slowly(void *ctx, uint32_t index, void **value) {
    if (held(&first) == 0 && ADD(failures, -1) <= 0) return make(ctx, index, value);
    return lazy_fail(9, "too slow");
}
static void check_failed(lazy_slot *slot, uint32_t index) {
    check_get(slot, index, LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 40 + (int32_t)index);
    CHECK_HAS(lazy_last_error()->message, "the device fell off the bus");
    CHECK_HAS(lazy_last_error()->message, "flaky");
    CHECK(!lazy_slot_has(slot, index));
}
static void try_again(uint32_t scope) {
    lazy_slot_config config = { sizeof config, "flaky", NULL, make_in_the_end, destroy, NULL, NULL, scope, LAZY_FORK_KEEP };
    lazy_slot slot = LAZY_SLOT_INIT(&config);
    SET(calls, 0);
    get_new(&slot, 0);
    SET(failures, 3);
    for (int i = 0; i < 3; i++) check_failed(&slot, 2);
    CHECK_IS(COUNT(calls), 4);
    item *late = get_new(&slot, 2);
    SET(failures, 1);
    check_failed(&slot, 1);
    CHECK(get_present(&slot, 2) == late);
    SET(failures, 0);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_BALANCE();
}
static void with_waiters(void) {
    lazy_slot_config config = { sizeof config, "slow", NULL, fails_once_slowly, destroy, NULL, NULL, LAZY_SLOT_PROCESS,
                                LAZY_FORK_KEEP };
    lazy_slot slot = LAZY_SLOT_INIT(&config);
    caller callers[WAITERS + 1];
    look_up look_ups[WAITERS + 1];
    first = (hold)HOLD_INIT;
    SET(failures, 1);
    for (int i = 0; i <= WAITERS; i++) {
        look_ups[i] = (look_up){ &slot, 0, NULL };
        begin(&callers[i], in_get, &look_ups[i]);
        if (i == 0) gate_wait(&first.inside);
    }
    for (int i = 1; i <= WAITERS; i++) until_waiting(&callers[i]);
    gate_open(&first.go);
    CHECK_IS(ended(&callers[0]), LAZY_E_CALLBACK);
    CHECK_IS(callers[0].error.code, 9);
    for (int i = 1; i <= WAITERS; i++) {
        CHECK_IS(ended(&callers[i]), LAZY_E_CALLBACK);
        CHECK_IS(callers[i].error.code, 9);
        CHECK_HAS(callers[i].message, "too slow");
    }
    CHECK_IS(atomic_load(&first.runs), 1);
    get_new(&slot, 0);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_BALANCE();
}

int main(void) {
    try_again(LAZY_SLOT_THREAD);
    try_again(LAZY_SLOT_PROCESS);
    for (long i = rounds(50); i > 0; i--) with_waiters();
    return finish();
}
