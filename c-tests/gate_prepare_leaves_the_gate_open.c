// Guards against a prepare that runs as part of the attempt: while one thread is inside it the once is fresh, takes
// calls, and another thread prepares for itself, initializes and finishes; the first one then finds it ready and starts
// nothing.
#include "callers.h"

static hold slow_prepare = HOLD_INIT;
static atomic_int prepared, initialized, ran;

static int32_t prepare(void *ctx) {
    CHECK(!lazy_once_is_initialized((lazy_once *)ctx));
    CHECK(!lazy_once_is_initializing((lazy_once *)ctx));
    return atomic_fetch_add(&prepared, 1) == 0 ? held(&slow_prepare) : 0;
}
static int32_t initialize(void *once) {
    CHECK(lazy_once_is_initializing((lazy_once *)once));
    return count(&initialized);
}
static lazy_status in_counting_run(void *once) { return lazy_once_run((lazy_once *)once, count, &initialized); }

static void leaves_open(lazy_once *once, lazy_status (*first)(void *), lazy_status (*second)(void *)) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller slow, quick;
    const hold closed = HOLD_INIT;
    slow_prepare = closed;
    atomic_store(&prepared, 0);
    atomic_store(&initialized, 0);
    atomic_store(&ran, 0);
    config.name = "prepared";
    config.prepare = prepare;
    config.initialize = initialize;
    config.ctx = once;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    begin(&slow, first, once);
    gate_wait(&slow_prepare.inside);
    CHECK_IS(info_of(once).phase, LAZY_FRESH);
    CHECK_IS(info_of(once).attempts, 0);
    CHECK_IS(info_of(once).owner_thread, 0);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    begin(&quick, second, once);
    CHECK_IS(ended(&quick), LAZY_OK);
    CHECK(lazy_once_is_initialized(once));
    CHECK_IS(atomic_load(&prepared), 2);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&ran), 2);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_OK);
    gate_open(&slow_prepare.go);
    CHECK_IS(ended(&slow), LAZY_OK);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&prepared), 2);
    CHECK_IS(info_of(once).attempts, 1);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
}

int main(void) {
    static lazy_once onces[4];
    leaves_open(&onces[0], in_init, in_init);
    leaves_open(&onces[1], in_counting_run, in_init);
    leaves_open(&onces[2], in_init, in_counting_run);
    leaves_open(&onces[3], in_unlimited_init, in_init);
    return finish();
}
