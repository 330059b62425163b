// needs: hooks
// Guards against an append that finds an attempt running only at its second look and joins the queue all the same: its
// caller would go on as if the device were to come up later. It must wait and then run the callback on its own thread.
#include "second_look.h"

static gate started = GATE_INIT, proceed = GATE_INIT;
static atomic_int ran_on;
static int32_t initialize(void *ctx) {
    (void)ctx;
    gate_open(&started);
    gate_wait(&proceed);
    return 0;
}
static const lazy_config config = { sizeof(lazy_config), "second look", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

static int32_t callback(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_is_initialized(&once));
    atomic_store(&ran_on, thread_id());
    return 0;
}
static void *thread_a(void *ctx) {
    (void)ctx;
    hold_this_thread();
    CHECK_IS(lazy_once_call(&once, callback, NULL), LAZY_OK);
    CHECK_IS(atomic_load(&ran_on), thread_id());
    return NULL;
}
static void *thread_b(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return NULL;
}

int main(void) {
    pthread_t a = start(thread_a, NULL);
    gate_wait(&looked);
    pthread_t b = start(thread_b, NULL);
    gate_wait(&started);
    gate_open(&go_on);
    until_asleep(atomic_load(&held_thread));
    CHECK_IS(atomic_load(&ran_on), 0);
    gate_open(&proceed);
    join(a);
    join(b);
    return finish();
}
