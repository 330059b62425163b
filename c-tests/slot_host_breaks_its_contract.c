// flags: -fexceptions
// Guards against a fault of the hooks that loses a value or makes it twice: a hook that never calls back, calls back twice,
// fails after it did, or ends the thread. It is LAZY_E_HOST and says what the hook did; what was made is there, what was not
// is made by the next call, and retire can be called again.
#include "big_lock.h"
#include "slots.h"

static big_lock lock;
static lazy_slot slot;

static int32_t make_attached(void *ctx, uint32_t index, void **value) {
    CHECK(*big_depth(&lock) > 0);
    return make(ctx, index, value);
}
static void destroy_attached(void *ctx, uint32_t index, void *value) {
    CHECK(*big_depth(&lock) > 0);
    destroy(ctx, index, value);
}
static void check_fault(lazy_status status) {
    CHECK_IS(status, LAZY_E_HOST);
    CHECK_HAS(lazy_last_error()->message, "\"faulty\"");
    CHECK_HAS(lazy_last_error()->message, "hook");
    CHECK_DEPTH(&lock, 0);
}
static void *ends_in_the_hook(void *ctx) {
    static void *value; /* nothing on the stack: a sanitizer does not clean up after such an end */
    lazy_slot_get(&slot, 0, &value);
    CHECK(!"the thread came back");
    return ctx;
}
static void begin_in(uint32_t scope) {
    static lazy_slot_config configs[2];
    configs[scope] = (lazy_slot_config){ sizeof(lazy_slot_config), "needs it", NULL, make_attached, destroy_attached, NULL,
                                         &lock.host, scope, LAZY_FORK_KEEP };
    slot = (lazy_slot)LAZY_SLOT_INIT(&configs[scope]);
    SET(made, 0);
    SET(destroyed, 0);
}
static void breaks(uint32_t scope, big_fault fault) {
    void *value = NULL;
    begin_in(scope);
    SET(lock.run_fault, fault);
    check_fault(lazy_slot_get(&slot, 0, &value));
    CHECK_IS(COUNT(made), fault != NEVER_CALLS);
    CHECK_IS(lazy_slot_has(&slot, 0), fault != NEVER_CALLS);
    SET(lock.run_fault, KEEPS_IT);
    get(&slot, 0);
    CHECK_IS(COUNT(made), 1);
    SET(lock.run_fault, fault);
    check_fault(lazy_slot_retire(&slot));
    SET(lock.run_fault, KEEPS_IT);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    check_get(&slot, 0, LAZY_E_CLOSED);
    CHECK_BALANCE();
}

int main(void) {
    big_begin(&lock, 0, "faulty");
    for (uint32_t scope = 0; scope < 2; scope++) {
        for (int fault = NEVER_CALLS; fault <= FAILS_AFTER; fault++) breaks(scope, (big_fault)fault);
        begin_in(scope);
        SET(lock.ends_thread, 1);
        join(start(ends_in_the_hook, NULL));
        SET(lock.ends_thread, 0);
        get_new(&slot, 0);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_BALANCE();
    }
    return finish();
}
