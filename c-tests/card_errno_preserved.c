// Guards against a gate that leaves its own errno, or that of a callback which ran for somebody else, in the middle of the
// caller's error handling; only a callback that runs at once may set it.
#include "check.h"
#include <stdatomic.h>

enum { KEPT = 4242 };
static gate started = GATE_INIT, proceed = GATE_INIT;
static atomic_int waiter;
static lazy_once once, failed;

static int32_t sets_errno(void *value) {
    errno = *(int *)value;
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    gate_open(&started);
    gate_wait(&proceed);
    errno = 5;
    return 0;
}
static int32_t fails(void *ctx) {
    (void)ctx;
    errno = 6;
    return lazy_fail(1, "no");
}
#define KEEPS(call) do { errno = KEPT; (void)(call); CHECK_IS(errno, KEPT); } while (0)

static void *initializing(void *ctx) {
    (void)ctx;
    KEEPS(lazy_once_init(&once));
    return NULL;
}
static void *waiting(void *ctx) {
    (void)ctx;
    gate_wait(&started);
    atomic_store(&waiter, thread_id());
    KEEPS(lazy_once_init(&once));
    return NULL;
}

int main(void) {
    static int seven = 7, eight = 8;
    lazy_config config = LAZY_CONFIG_INIT, failing = LAZY_CONFIG_INIT;
    config.initialize = initialize;
    failing.initialize = fails;
    KEEPS(lazy_once_configure(&once, &config));
    KEEPS(lazy_once_configure(&failed, &failing));
    KEEPS(lazy_once_init(&failed)); /* fails, and formats its message */
    KEEPS(lazy_once_configure(&failed, &config));
    KEEPS(lazy_once_call(&once, sets_errno, &seven));
    KEEPS(lazy_once_is_initialized(&once));
    KEEPS(lazy_once_is_initializing(&once));
    KEEPS(lazy_last_error());
    KEEPS(lazy_status_string(LAZY_E_INIT));
    KEEPS(lazy_fail(1, "text"));
    KEEPS(lazy_default());
    KEEPS(lazy_call(sets_errno, &seven));
    KEEPS(lazy_init());
    pthread_t a = start(initializing, NULL), b = start(waiting, NULL);
    while (!atomic_load(&waiter)) sched_yield();
    until_asleep(atomic_load(&waiter));
    gate_open(&proceed);
    join(a);
    join(b);
    KEEPS(lazy_once_init(&once));
    KEEPS(lazy_once_is_initialized(&once));
    errno = KEPT;
    CHECK_IS(lazy_once_call(&once, sets_errno, &eight), LAZY_OK);
    CHECK_IS(errno, 8); /* the caller ran it, and may want to see it */
    CHECK_IS(lazy_call(sets_errno, &seven), LAZY_OK);
    CHECK_IS(errno, 7);
    return finish();
}
