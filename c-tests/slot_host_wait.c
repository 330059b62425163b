// Guards against a wait for somebody else's factory that keeps a host lock: the slot's own, or the one of an initializer that
// the waiter is inside of, although the slot has no host; the factory needs it. Such a wait goes on through interrupts, and
// ends with LAZY_E_INTERRUPTED where the host gives it up; then nothing is lost, and the others get the value.
#include "big_lock.h"
#include "callers.h"
#include "slots.h"

static big_lock lock;
static lazy_slot slot;
static lazy_once once;
static hold factory;
static atomic_int depth;

static int32_t make_slowly(void *ctx, uint32_t index, void **value) {
    int outside = *big_depth(&lock) ? big_let_go(&lock) : 0;
    held(&factory);
    big_take_back(&lock, outside ? outside : 1); /* the waiters must not have it */
    make(ctx, index, value);
    if (!outside) big_give(&lock);
    return 0;
}
static lazy_status with_the_lock(void *ctx) {
    int wanted = atomic_load(&depth);
    for (int i = 0; i < wanted; i++) big_take(&lock);
    lazy_status status = in_get(ctx);
    CHECK_DEPTH(&lock, wanted);
    while (*big_depth(&lock)) big_give(&lock);
    return status;
}
static int32_t gets_inside(void *ctx) {
    CHECK(*big_depth(&lock) > 0);
    get(&slot, 0);
    CHECK(*big_depth(&lock) > 0);
    return ctx != NULL;
}
static void wait_for(const lazy_host *host) {
    lazy_slot_config config = { sizeof config, "slow", NULL, make_slowly, destroy, NULL, host, LAZY_SLOT_PROCESS,
                                LAZY_FORK_KEEP };
    lazy_config start_up = { .size = sizeof start_up, .name = "starting", .initialize = gets_inside, .host = &lock.host };
    caller maker, patient[2], impatient, starter;
    look_up l[5];
    for (int i = 0; i < 5; i++) l[i] = (look_up){ &slot, 0, NULL };
    slot = (lazy_slot)LAZY_SLOT_INIT(&config);
    once = (lazy_once)LAZY_ONCE_WITH(&start_up);
    factory = (hold)HOLD_INIT;
    begin(&maker, in_get, &l[0]);
    gate_wait(&factory.inside);
    begin(&starter, in_init, &once);
    until_waiting(&starter);
    if (host)
        for (int i = 0; i < 2; i++) {
            atomic_store(&depth, i * 2);
            begin(&patient[i], with_the_lock, &l[1 + i]);
            until_waiting(&patient[i]);
        }
    for (int i = 0; host && i < 2; i++) {
        atomic_store(&depth, i);
        begin(&impatient, with_the_lock, &l[3]);
        until_waiting(&impatient);
        for (long n = rounds(100); n > 0; n--) big_interrupt(&lock, 0, 0);
        until_waiting(&impatient);
        while (!big_interrupt(&lock, atomic_load(&impatient.id), 1)) sched_yield();
        CHECK_IS(ended(&impatient), LAZY_E_INTERRUPTED);
        CHECK_HAS(impatient.message, "\"impatient\"");
        CHECK_HAS(impatient.message, "slow");
        CHECK(l[3].value == NULL);
    }
    big_take(&lock); /* nobody who waits has it */
    big_give(&lock);
    gate_open(&factory.go);
    CHECK_IS(ended(&maker), LAZY_OK);
    CHECK_IS(ended(&starter), LAZY_OK);
    for (int i = 0; host && i < 2; i++) {
        CHECK_IS(ended(&patient[i]), LAZY_OK);
        CHECK(l[1 + i].value == l[0].value);
    }
    CHECK_IS(atomic_load(&factory.runs), 1);
    CHECK_DEPTH(&lock, 0);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_BALANCE();
}

int main(void) {
    big_begin(&lock, 0, "impatient");
    for (long i = rounds(20); i > 0; i--) {
        wait_for(&lock.host);
        wait_for(NULL);
    }
    return finish();
}
