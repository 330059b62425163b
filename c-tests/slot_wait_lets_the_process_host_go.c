// flags: -fexceptions
// Guards against a thread that comes in holding the host of lazy_set_host, as a binding does, to a slot that has no host of its own:
// waiting for somebody else's factory, or for one to end in retire, it would keep the lock that the factory needs. Where the host
// refuses it waits all the same.
#include "big_lock.h"
#include "callers.h"
#include "slots.h"

static big_lock lock;
static hold factory;
static lazy_slot slot;

static int32_t make_with_the_lock(void *ctx, uint32_t index, void **value) {
    held(&factory);
    big_take(&lock);
    make(ctx, index, value);
    big_give(&lock);
    return 0;
}
static const lazy_slot_config config = { sizeof config, "hostless", NULL, make_with_the_lock, destroy, NULL, NULL,
                                         LAZY_SLOT_PROCESS, LAZY_FORK_KEEP };
static lazy_status get_holding(void *ctx) {
    big_take(&lock);
    lazy_status status = in_get(ctx);
    CHECK_IS(*big_depth(&lock), 1);
    big_give(&lock);
    return status;
}
static lazy_status retire_holding(void *ctx) {
    big_take(&lock);
    lazy_status status = lazy_slot_retire((lazy_slot *)ctx);
    CHECK_IS(*big_depth(&lock), 1);
    big_give(&lock);
    return status;
}
static lazy_status get_refused(void *ctx) {
    big_refuses_me = 7;
    return in_get(ctx);
}

int main(void) {
    caller maker, waiter, refused, retirer;
    look_up l[3];
    big_begin(&lock, 0, "big");
    CHECK_IS(lazy_set_host(&lock.host), LAZY_OK);
    for (int i = 0; i < 3; i++) l[i] = (look_up){ &slot, 0, NULL };

    slot = (lazy_slot)LAZY_SLOT_INIT(&config);
    factory = (hold)HOLD_INIT;
    begin(&maker, in_get, &l[0]);
    gate_wait(&factory.inside);
    begin(&waiter, get_holding, &l[1]);
    begin(&refused, get_refused, &l[2]);
    until_waiting(&waiter);
    until_waiting(&refused);
    gate_open(&factory.go);
    CHECK_IS(ended(&waiter), LAZY_OK);
    CHECK_IS(ended(&refused), LAZY_OK);
    CHECK_IS(ended(&maker), LAZY_OK);
    CHECK(l[0].value == l[1].value && l[1].value == l[2].value);

    l[0].index = 1;
    factory = (hold)HOLD_INIT;
    begin(&maker, in_get, &l[0]);
    gate_wait(&factory.inside);
    begin(&retirer, retire_holding, &slot);
    until_waiting(&retirer);
    gate_open(&factory.go);
    CHECK_IS(ended(&retirer), LAZY_OK);
    CHECK_IS(ended(&maker), LAZY_E_CLOSED);
    CHECK_IS(lazy_set_host(NULL), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
