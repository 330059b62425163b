// Guards the table of four outcomes, told by the return status and the thread that ran the callback: a gate that queues
// where it must run, runs where it must queue, or runs a waiter's callback on the initializing thread, fails here.
#include "check.h"
#include <stdatomic.h>

static gate started = GATE_INIT, proceed = GATE_INIT;
static atomic_int ran_on[4], waiter;
static lazy_once once;

static int32_t note_thread(void *slot) {
    atomic_store((atomic_int *)slot, thread_id());
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&once, note_thread, &ran_on[1]), LAZY_QUEUED); /* the native side is not up yet */
    CHECK_IS(atomic_load(&ran_on[1]), 0);
    gate_open(&started);
    gate_wait(&proceed);
    return 0;
}
static int32_t drained(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&once, note_thread, &ran_on[2]), LAZY_OK); /* inline, before the call returns */
    CHECK_IS(atomic_load(&ran_on[2]), thread_id());
    return 0;
}
static void *caller(void *ctx) {
    (void)ctx;
    gate_wait(&started);
    atomic_store(&waiter, thread_id());
    CHECK_IS(lazy_once_call(&once, note_thread, &ran_on[3]), LAZY_OK);
    CHECK(lazy_once_is_initialized(&once)); /* it waited for the end, not for a part */
    CHECK_IS(atomic_load(&ran_on[3]), thread_id());
    return NULL;
}
static void *initializing(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&ran_on[0]), thread_id());
    CHECK_IS(atomic_load(&ran_on[1]), thread_id());
    return NULL;
}

int main(void) {
    static const lazy_config config = { sizeof(lazy_config), "outcomes", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, note_thread, &ran_on[0]), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, drained, NULL), LAZY_QUEUED);
    CHECK_IS(atomic_load(&ran_on[0]), 0);
    pthread_t a = start(initializing, NULL), b = start(caller, NULL);
    while (!atomic_load(&waiter)) sched_yield();
    until_asleep(atomic_load(&waiter));
    CHECK_IS(atomic_load(&ran_on[3]), 0);
    gate_open(&proceed);
    join(a);
    join(b);
    atomic_int here = 0;
    CHECK_IS(lazy_once_call(&once, note_thread, &here), LAZY_OK);
    CHECK_IS(atomic_load(&here), thread_id());
    return finish();
}
