// Guards against a retire that knows only some of the places where a slot's code runs: it waits for a share in a capture, and
// for a destructor in a free, in the last leave, in a set that replaces and in another retire; when it returns nothing is
// left. A destructor in a retire finds the slot closed, and does not wait for itself.
#include "callers.h"
#include "slots.h"

enum { CAPTURE, FREE, LEAVE, REPLACE, RETIRE, CALLS };
static lazy_slot slot;
static hold inside;
static int left, held_once;
static atomic_int call;

static void hold_once(void) {
    if (ADD(held_once, 1) > 0) return;
    held(&inside);
    ADD(left, 1);
}
static void *share_held(void *ctx, void *value) {
    void *copy = share(ctx, value);
    if (atomic_load(&call) == CAPTURE) hold_once();
    return copy;
}
static void destroy_held(void *ctx, uint32_t index, void *value) {
    if (atomic_load(&call) == RETIRE) {
        check_get(&slot, index, LAZY_E_CLOSED);
        CHECK_IS(lazy_slot_set(&slot, index, value), LAZY_E_CLOSED);
        CHECK(!lazy_slot_has(&slot, index));
        CHECK_IS(lazy_slot_retire(&slot), LAZY_IN_PROGRESS);
    }
    destroy(ctx, index, value);
    if (atomic_load(&call) != CAPTURE) hold_once();
}
static lazy_status makes_the_call(void *ctx) {
    lazy_thread_state *state = NULL;
    (void)ctx;
    int what = atomic_exchange(&call, CAPTURE);
    SET(held_once, what == CAPTURE ? 0 : 1);
    for (uint32_t i = 0; i < 3; i++) get_new(&slot, i);
    if (what == FREE || what == LEAVE) CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    if (what == LEAVE) {
        CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
        lazy_thread_state_free(state);
    }
    SET(held_once, 0);
    atomic_store(&call, what);
    if (what == CAPTURE && lazy_thread_state_capture(&state) == LAZY_OK) lazy_thread_state_free(state);
    if (what == FREE) lazy_thread_state_free(state);
    if (what == LEAVE) lazy_thread_state_leave(state);
    if (what == REPLACE) lazy_slot_set(&slot, 0, new_item(NULL, 0));
    if (what == RETIRE) return lazy_slot_retire(&slot);
    return LAZY_OK;
}
static lazy_status in_thorough_retire(void *ctx) {
    lazy_status status = lazy_slot_retire((lazy_slot *)ctx);
    CHECK_IS(COUNT(left), 1);
    CHECK_BALANCE();
    return status;
}

int main(void) {
    for (int what = 0; what < CALLS; what++) {
        lazy_slot_config config = { sizeof config, "slow", NULL, make, destroy_held, share_held, NULL, 0, 0 };
        caller other, retiring;
        slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        inside = (hold)HOLD_INIT;
        SET(left, 0);
        atomic_store(&call, what);
        begin(&other, makes_the_call, NULL);
        gate_wait(&inside.inside);
        begin(&retiring, in_thorough_retire, &slot);
        until_waiting(&retiring);
        gate_open(&inside.go);
        CHECK_IS(ended(&retiring), LAZY_OK);
        CHECK_IS(ended(&other), LAZY_OK);
        CHECK_BALANCE();
    }
    return finish();
}
