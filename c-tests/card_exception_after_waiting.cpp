// Guards against an exception out of a callback that ran after its caller had waited for another thread's attempt: it
// leaves through the slow path, where a gate may still hold a lock or count a waiter.
#include "check.h"
#include <atomic>

static gate started = GATE_INIT, proceed = GATE_INIT;
static std::atomic<int> waiter;
static int32_t initialize(void *) {
    gate_open(&started);
    gate_wait(&proceed);
    return 0;
}
static const lazy_config config = { sizeof(lazy_config), "waited for", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once;

static int32_t throwing(void *) { throw 5; }
static int32_t fine(void *) { return 0; }
static void *initializing(void *) {
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return nullptr;
}
static void *calling(void *) {
    int caught = 0;
    gate_wait(&started);
    waiter = thread_id();
    try {
        lazy_once_call(&once, throwing, nullptr);
    } catch (int number) {
        caught = number;
    }
    CHECK_IS(caught, 5);
    return nullptr;
}

int main() {
    lazy_config other = config;
    other.initialize = fine;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    pthread_t a = start(initializing, nullptr), b = start(calling, nullptr);
    while (!waiter) sched_yield();
    until_asleep(waiter);
    gate_open(&proceed);
    join(a);
    join(b);
    CHECK(lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_call(&once, fine, nullptr), LAZY_OK);
    CHECK_IS(lazy_once_configure(&once, &other), LAZY_E_TOO_LATE); /* takes the lock of the once */
    return finish();
}
