// Guards against 64 waiters that line up for 64 slow failures: those that waited for an attempt get its outcome, with the
// same code, text and attempt number, and the initializer ran once.
#include "check.h"
#include <stdatomic.h>

enum { WAITERS = 64 };
static gate started = GATE_INIT, proceed = GATE_INIT;
static atomic_int attempts, ids[WAITERS];
static char messages[WAITERS + 1][512];

static int32_t initialize(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&attempts, 1) > 0) return 0;
    gate_open(&started);
    gate_wait(&proceed);
    return lazy_fail(42, "the device is on fire");
}
static const lazy_config config = { sizeof(lazy_config), "shared", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

static void fails(char message[512]) {
    CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->status, LAZY_E_INIT);
    CHECK_IS(error->code, 42);
    CHECK_IS(error->attempt, 1);
    CHECK_HAS(error->message, "the device is on fire");
    snprintf(message, 512, "%s", error->message);
}
static void *initializing(void *ctx) {
    (void)ctx;
    fails(messages[WAITERS]);
    return NULL;
}
static void *waiting(void *number) {
    gate_wait(&started);
    atomic_store(&ids[(intptr_t)number], thread_id());
    fails(messages[(intptr_t)number]);
    return NULL;
}

int main(void) {
    pthread_t threads[WAITERS], first = start(initializing, NULL);
    for (intptr_t i = 0; i < WAITERS; ++i) threads[i] = start(waiting, (void *)i);
    for (int i = 0; i < WAITERS; ++i) {
        while (!atomic_load(&ids[i])) sched_yield();
        until_asleep(atomic_load(&ids[i]));
    }
    gate_open(&proceed);
    join(first);
    for (int i = 0; i < WAITERS; ++i) {
        join(threads[i]);
        CHECK(!strcmp(messages[i], messages[WAITERS]));
    }
    CHECK_IS(atomic_load(&attempts), 1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK); /* a new call tries again */
    CHECK_IS(atomic_load(&attempts), 2);
    return finish();
}
