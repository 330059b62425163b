// flags: -fexceptions
// Guards against a thread that ends inside its initializer, or inside a queued callback, and leaves the gate owned by
// nobody: its waiters would sleep for ever. They must hear of a failed attempt, and the next one must work.
#include "check.h"
#include <stdatomic.h>

static gate started[2] = { GATE_INIT, GATE_INIT }, proceed[2] = { GATE_INIT, GATE_INIT };
static atomic_int exits_left[2] = { 1, 1 }, initialized, ran, waiter[2];

static int32_t leave_once(void *number) {
    intptr_t which = (intptr_t)number;
    if (atomic_fetch_sub(&exits_left[which], 1) <= 0) return 0;
    gate_open(&started[which]);
    gate_wait(&proceed[which]);
    pthread_exit((void *)"left");
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&initialized, 1);
    return 0;
}
static int32_t count(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&ran, 1);
    return 0;
}
static const lazy_config configs[2] = {
    { sizeof(lazy_config), "ends in the initializer", leave_once, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
    { sizeof(lazy_config), "ends in the drain", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
};
static lazy_once onces[2] = { LAZY_ONCE_WITH(&configs[0]), LAZY_ONCE_WITH(&configs[1]) };
static const lazy_status wanted[2] = { LAZY_E_INIT, LAZY_E_DEFERRED };

static void *ending(void *number) {
    lazy_once_init(&onces[(intptr_t)number]);
    CHECK(!"the thread came back");
    return NULL;
}
static void *waiting(void *number) {
    intptr_t which = (intptr_t)number;
    gate_wait(&started[which]);
    atomic_store(&waiter[which], thread_id());
    CHECK_IS(lazy_once_init(&onces[which]), wanted[which]);
    CHECK_IS(lazy_last_error()->code, 0);
    CHECK(*lazy_last_error()->message != 0);
    return NULL;
}

int main(void) {
    CHECK_IS(lazy_once_call(&onces[1], leave_once, (void *)1), LAZY_QUEUED);
    for (intptr_t which = 0; which < 2; ++which) {
        CHECK_IS(lazy_once_call(&onces[which], count, NULL), LAZY_QUEUED);
        pthread_t a = start(ending, (void *)which), b = start(waiting, (void *)which);
        while (!atomic_load(&waiter[which])) sched_yield();
        until_asleep(atomic_load(&waiter[which]));
        gate_open(&proceed[which]);
        CHECK(!strcmp((const char *)join(a), "left"));
        join(b);
        CHECK(!lazy_once_is_initialized(&onces[which]));
        CHECK_IS(lazy_once_init(&onces[which]), LAZY_OK);
        CHECK_IS(atomic_load(&ran), which + 1);
    }
    CHECK_IS(atomic_load(&initialized), 1);
    return finish();
}
