// Guards against a retire that waits while it holds a host lock: it waits for a factory that needs the lock, called with the
// lock and without; and its wait is not given up when the host wants it.
#include "big_lock.h"
#include "callers.h"
#include "slots.h"

static big_lock lock;
static lazy_slot slot;
static hold factory;
static atomic_int depth;

static int32_t make_slowly(void *ctx, uint32_t index, void **value) {
    int outside = big_let_go(&lock);
    held(&factory);
    big_take_back(&lock, outside);
    return make(ctx, index, value);
}
static void destroy_attached(void *ctx, uint32_t index, void *value) {
    CHECK(*big_depth(&lock) > 0);
    destroy(ctx, index, value);
}
static lazy_status retires(void *ctx) {
    int wanted = atomic_load(&depth);
    for (int i = 0; i < wanted; i++) big_take(&lock);
    lazy_status status = lazy_slot_retire((lazy_slot *)ctx);
    CHECK_DEPTH(&lock, wanted);
    CHECK_BALANCE();
    while (*big_depth(&lock)) big_give(&lock);
    return status;
}

int main(void) {
    lazy_slot_config config = { sizeof config, "slow", NULL, make_slowly, destroy_attached, NULL, &lock.host, 0, 0 };
    big_begin(&lock, 0, "lock");
    for (int i = 0; i < 6; i++) {
        caller maker, retirer;
        look_up l = { &slot, 0, NULL };
        config.scope = i / 3 ? LAZY_SLOT_PROCESS : LAZY_SLOT_THREAD;
        slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        factory = (hold)HOLD_INIT;
        atomic_store(&depth, i % 3);
        begin(&maker, in_get, &l);
        gate_wait(&factory.inside);
        begin(&retirer, retires, &slot);
        until_waiting(&retirer);
        for (int n = 0; n < 20; n++) big_interrupt(&lock, 0, 1); /* it is not given up */
        until_waiting(&retirer);
        big_take(&lock);
        big_give(&lock);
        gate_open(&factory.go);
        CHECK_IS(ended(&retirer), LAZY_OK);
        lazy_status status = ended(&maker);
        CHECK(status == LAZY_OK || status == LAZY_E_CLOSED);
        CHECK_BALANCE();
    }
    return finish();
}
