// Guards against a wait for somebody's factory that is not told, and against events of a look-up that waits for nobody.
#include "observed.h"
#include "callers.h"

static hold factory = HOLD_INIT;
static int32_t create(void *ctx, uint32_t index, void **value) {
    (void)index;
    *value = ctx;
    return held(ctx);
}
static const lazy_slot_config config = { .size = sizeof(lazy_slot_config), .name = "the slot", .ctx = &factory, .create = create,
                                         .scope = LAZY_SLOT_PROCESS };
static lazy_slot slot = LAZY_SLOT_INIT(&config);

static lazy_status gets(void *arg) {
    void *value = NULL;
    lazy_status status = lazy_slot_get((lazy_slot *)arg, 0, &value);
    CHECK(value == &factory);
    return status;
}

int main(void) {
    observe();
    caller maker, waiter;
    begin(&maker, gets, &slot);
    gate_wait(&factory.inside);
    begin(&waiter, gets, &slot);
    until_waiting(&waiter);
    CHECK_IS(events_so_far(), 1);
    gate_open(&factory.go);
    CHECK_IS(ended(&maker), LAZY_OK);
    CHECK_IS(ended(&waiter), LAZY_OK);
    CHECK_IS(gets(&slot), LAZY_OK);
    CHECK_EVENTS(LAZY_EVENT_WAIT, 1);
    CHECK_IS(event_count, 2);
    CHECK_IS(strcmp(events[0].once, "the slot"), 0);
    CHECK_IS(events[0].event.thread, atomic_load(&waiter.id));
    CHECK_IS(events[0].event.phase, 0);
    check_nesting();
    observe_no_more();
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    return finish();
}
