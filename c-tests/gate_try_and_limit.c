// Guards against a try that waits, and against limits that are not kept: 0 never waits and initializes only if nobody else
// does; a limit ends a wait with LAZY_E_TIMEOUT that names the owner, its phase and the place that queued the running
// callback; UINT64_MAX overrides a configured limit.
#include "check.h"
#include <stdatomic.h>

static gate draining, finish_it;
static atomic_int owner;
static int32_t initialize(void *ctx) {
    (void)ctx;
    return 0;
}
static int32_t slow(void *ctx) {
    (void)ctx;
    atomic_store(&owner, thread_id());
    gate_open(&draining);
    gate_wait(&finish_it);
    return 0;
}
static const lazy_config config = { sizeof(lazy_config), "device", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 1000 };
static lazy_once once = LAZY_ONCE_WITH(&config), alone;

static void *initializing(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return NULL;
}
static void *without_limit(void *id) {
    atomic_store((atomic_int *)id, thread_id());
    CHECK_IS(lazy_once_init_timeout(&once, UINT64_MAX), LAZY_OK);
    return NULL;
}

int main(void) {
    atomic_int id = 0;
    CHECK_IS(lazy_once_init_timeout(NULL, 0), LAZY_E_INVALID);
    CHECK_IS(lazy_once_init_timeout(&alone, 0), LAZY_OK);
    CHECK_IS(lazy_once_init_timeout(&alone, 0), LAZY_OK);

    CHECK_IS(lazy_once_call(&once, slow, NULL), LAZY_QUEUED);
    pthread_t thread = start(initializing, NULL);
    gate_wait(&draining);
    const uint64_t limits[] = { 0, 1000000 };
    for (int i = 0; i < 2; i++) {
        errno = 42;
        CHECK_IS(lazy_once_init_timeout(&once, limits[i]), LAZY_E_TIMEOUT);
        CHECK_IS(errno, 42);
        const lazy_error *error = lazy_last_error();
        CHECK_IS(error->owner_thread, atomic_load(&owner));
        CHECK_HAS(error->message, "\"device\"");
        CHECK_HAS(error->message, "draining");
        CHECK_HAS(error->site.file, "gate_try_and_limit");
    }
    /* The configured limit is one microsecond; a call keeps to it, and its callback was neither run nor queued. */
    CHECK_IS(lazy_once_call(&once, slow, NULL), LAZY_E_TIMEOUT);
    pthread_t waiter = start(without_limit, &id);
    while (!atomic_load(&id)) sched_yield();
    until_asleep(atomic_load(&id));
    gate_open(&finish_it);
    join(waiter);
    join(thread);
    CHECK(lazy_once_is_initialized(&once));
    return finish();
}
