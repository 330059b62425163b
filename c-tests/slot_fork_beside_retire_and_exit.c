// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a child that hangs in the middle of somebody else's clean-up: forked while one thread is inside retire, held
// by a destructor, while another thread is ending, held by another, and while a third waits to retire that; its own look-ups,
// states, retires and thread ends return.
#include "callers.h"
#include "forked_child.h"
#include "slots.h"

static lazy_slot retiring, ending, staying;
static hold in_retire_hold = HOLD_INIT, at_end = HOLD_INIT;
static int is_child;

static void destroy_in_retire(void *ctx, uint32_t index, void *value) {
    if (!COUNT(is_child)) held(&in_retire_hold);
    destroy(ctx, index, value);
}
static void destroy_at_end(void *ctx, uint32_t index, void *value) {
    if (!COUNT(is_child)) held(&at_end);
    destroy(ctx, index, value);
}
static void child(void) {
    lazy_thread_state *state = NULL;
    void *value = NULL;
    SET(is_child, 1);
    lazy_status status = lazy_slot_get(&retiring, 0, &value);
    CHECK(status == LAZY_OK || status == LAZY_E_CLOSED);
    status = lazy_slot_get(&ending, 0, &value);
    CHECK(status == LAZY_OK || status == LAZY_E_CLOSED);
    get_present(&staying, 0);
    get_new(&staying, 1);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    lazy_thread_state_free(state);
    status = lazy_slot_retire(&retiring);
    CHECK(status == LAZY_OK || status == LAZY_E_CLOSED);
    status = lazy_slot_retire(&ending);
    CHECK(status == LAZY_OK || status == LAZY_E_CLOSED);
    check_get(&retiring, 0, LAZY_E_CLOSED);
    check_get(&ending, 0, LAZY_E_CLOSED);
    CHECK_IS(lazy_slot_retire(&staying), LAZY_OK);
}

int main(void) {
    lazy_slot_config configs[3] = { ITEMS("retiring", LAZY_SLOT_THREAD), ITEMS("ending", LAZY_SLOT_THREAD),
                                    SHARED_ITEMS("staying") };
    caller ends, retires, waits;
    look_up last = { &ending, 1, NULL };
    configs[0].destroy = destroy_in_retire;
    configs[1].destroy = destroy_at_end;
    retiring = (lazy_slot)LAZY_SLOT_INIT(&configs[0]);
    ending = (lazy_slot)LAZY_SLOT_INIT(&configs[1]);
    staying = (lazy_slot)LAZY_SLOT_INIT(&configs[2]);
    get_new(&retiring, 0);
    get_new(&staying, 0);
    begin(&ends, in_get, &last);
    gate_wait(&at_end.inside);
    in_child(child);
    begin(&waits, in_retire, &ending);
    until_waiting(&waits);
    in_child(child);
    begin(&retires, in_retire, &retiring);
    gate_wait(&in_retire_hold.inside);
    in_child(child);
    in_child(child);
    gate_open(&in_retire_hold.go);
    gate_open(&at_end.go);
    CHECK_IS(ended(&ends), LAZY_OK);
    CHECK_IS(ended(&waits), LAZY_OK);
    CHECK_IS(ended(&retires), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&staying), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
