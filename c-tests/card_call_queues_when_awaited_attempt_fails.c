// Guards against a waiting lazy_call that takes the failure of somebody else's attempt for its own, or runs its callback
// on a gate that never opened: it decides again from the top, and on a fresh once that means the queue.
#include "check.h"
#include <stdatomic.h>

static gate started = GATE_INIT, proceed = GATE_INIT;
static atomic_int waiter, ran, attempts;

static int32_t initialize(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&attempts, 1) > 0) return 0;
    gate_open(&started);
    gate_wait(&proceed);
    return 9;
}
static const lazy_config config = { sizeof(lazy_config), "fails once", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

static int32_t count(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&ran, 1);
    return 0;
}
static void *initializing(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
    return NULL;
}
static void *caller(void *ctx) {
    (void)ctx;
    gate_wait(&started);
    atomic_store(&waiter, thread_id());
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED);
    CHECK_IS(atomic_load(&ran), 0);
    return NULL;
}

int main(void) {
    pthread_t a = start(initializing, NULL), b = start(caller, NULL);
    while (!atomic_load(&waiter)) sched_yield();
    until_asleep(atomic_load(&waiter));
    gate_open(&proceed);
    join(a);
    join(b);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(atomic_load(&attempts), 2);
    return finish();
}
