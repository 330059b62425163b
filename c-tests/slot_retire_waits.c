// Guards against a retire that returns while code of the slot still runs on another thread, so that unloading it crashes: it
// waits for a running factory, for a destructor at the end of a thread, and two that come together both wait. A get that came
// too late is closed, and what the factory gave is destroyed.
#include "callers.h"
#include "slots.h"

static lazy_slot slot;
static hold factory, destructor;
static int left;

static int32_t make_held(void *ctx, uint32_t index, void **value) {
    held(&factory);
    make(ctx, index, value);
    ADD(left, 1);
    return 0;
}
static void destroy_held(void *ctx, uint32_t index, void *value) {
    held(&destructor);
    destroy(ctx, index, value);
    ADD(left, 1);
}
/* Nothing of the slot is running, and nothing is left, once it has returned. */
static lazy_status in_thorough_retire(void *ctx) {
    lazy_status status = lazy_slot_retire((lazy_slot *)ctx);
    CHECK_IS(COUNT(left), 2);
    CHECK_BALANCE();
    return status;
}
static void retire_beside(uint32_t scope, hold *what) {
    lazy_slot_config config = { sizeof config, "slow", NULL, make_held, destroy_held, NULL, NULL, scope, LAZY_FORK_KEEP };
    caller holder, late, retiring[2];
    look_up first = { &slot, 0, NULL }, second = { &slot, 0, NULL };
    slot = (lazy_slot)LAZY_SLOT_INIT(&config);
    factory = (hold)HOLD_INIT;
    destructor = (hold)HOLD_INIT;
    SET(left, 0);
    gate_open(what == &factory ? &destructor.go : &factory.go);
    begin(&holder, in_get, &first);
    gate_wait(&what->inside);
    for (int i = 0; i < 2; i++) {
        begin(&retiring[i], in_thorough_retire, &slot);
        until_waiting(&retiring[i]);
    }
    begin(&late, in_get, &second);
    if (what == &destructor) CHECK_IS(ended(&late), LAZY_E_CLOSED);
    gate_open(&what->go);
    for (int i = 0; i < 2; i++) CHECK_IS(ended(&retiring[i]), LAZY_OK);
    if (what == &factory) CHECK_IS(ended(&late), LAZY_E_CLOSED);
    lazy_status status = ended(&holder);
    CHECK(status == LAZY_OK || (what == &factory && status == LAZY_E_CLOSED));
    CHECK_IS(COUNT(made), COUNT(destroyed));
    CHECK_IS(atomic_load(&factory.runs), 1);
    CHECK_IS(atomic_load(&destructor.runs), 1);
}

int main(void) {
    for (long i = rounds(20); i > 0; i--) {
        retire_beside(LAZY_SLOT_THREAD, &factory);
        retire_beside(LAZY_SLOT_PROCESS, &factory);
        retire_beside(LAZY_SLOT_THREAD, &destructor);
    }
    return finish();
}
