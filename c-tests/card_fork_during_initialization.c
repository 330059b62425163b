// Guards against a child that waits for ever for an initialization that only another thread of its parent was running:
// under KEEP the once is fresh in the child, queue kept, and the child can initialize; what was ready stays ready.
#include "forked_child.h"
#include <stdatomic.h>

static gate started = GATE_INIT, proceed = GATE_INIT;
static atomic_int attempts, ran, waiter, is_child;

static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&attempts, 1);
    if (atomic_load(&is_child)) return 0;
    gate_open(&started);
    gate_wait(&proceed);
    return 0;
}
static const lazy_config config = { sizeof(lazy_config), "forked", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config), ready = LAZY_ONCE_INIT, fresh = LAZY_ONCE_INIT;

static int32_t count(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&ran, 1);
    return 0;
}
static void child(void) {
    atomic_store(&is_child, 1);
    CHECK(lazy_once_is_initialized(&ready));
    CHECK_IS(lazy_once_call(&ready, count, NULL), LAZY_OK);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&attempts), 2);
    CHECK_IS(atomic_load(&ran), 3); /* the ready one, the one queued in the parent, the one queued here */
    CHECK(lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 4);
}
static void *initializing(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return NULL;
}
static void *waiting(void *ctx) {
    (void)ctx;
    gate_wait(&started);
    atomic_store(&waiter, thread_id());
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return NULL;
}

int main(void) {
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&fresh, count, NULL), LAZY_QUEUED);
    pthread_t a = start(initializing, NULL), b = start(waiting, NULL);
    while (!atomic_load(&waiter)) sched_yield();
    until_asleep(atomic_load(&waiter)); /* a waiter that the child does not have must not be waited for there */
    in_child(child);
    in_child(child);
    gate_open(&proceed);
    join(a);
    join(b);
    CHECK_IS(atomic_load(&attempts), 1);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    return finish();
}
