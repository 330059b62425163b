// Guards against an attempt at a forbidden moment (stream capture, shutting down): while can_init says no, init and run
// are LAZY_E_NOT_NOW with its code and text, whatever on_failure says; nothing starts, no attempt is counted, calls
// still queue; and as soon as it says yes, all of that runs. A ready once is not asked.
#include "callers.h"

typedef struct device { lazy_once once; atomic_int capturing, asked, initialized, ran; } device;

static int32_t can_init(void *ctx) {
    device *d = (device *)ctx;
    atomic_fetch_add(&d->asked, 1);
    CHECK(!lazy_once_is_initialized(&d->once));
    CHECK_IS(lazy_once_init(&d->once), LAZY_IN_PROGRESS);
    return atomic_load(&d->capturing) ? lazy_fail(atomic_load(&d->capturing), "a stream is being captured") : 0;
}
static int32_t initialize(void *ctx) { return count(&((device *)ctx)->initialized); }
static void check_not_now(device *d, lazy_status status, int32_t code) {
    CHECK_IS(status, LAZY_E_NOT_NOW);
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->status, LAZY_E_NOT_NOW);
    CHECK_IS(error->code, code);
    CHECK_IS(error->attempt, 0);
    CHECK_HAS(error->message, "a stream is being captured");
    CHECK_IS(info_of(&d->once).phase, LAZY_FRESH);
    CHECK_IS(info_of(&d->once).attempts, 0);
    CHECK_IS(info_of(&d->once).owner_thread, 0);
    CHECK(!lazy_once_is_initializing(&d->once));
    CHECK_IS(atomic_load(&d->initialized), 0);
}
static lazy_status in_counting_call(void *ctx) {
    device *d = (device *)ctx;
    return lazy_once_call(&d->once, count, &d->ran);
}

int main(void) {
    for (uint32_t on_failure = LAZY_FAIL_SHARE; on_failure <= LAZY_FAIL_STICKY; on_failure++) {
        device d = { .once = LAZY_ONCE_INIT, .capturing = 900 };
        lazy_config config = LAZY_CONFIG_INIT;
        caller other;
        config.name = "capturing";
        config.can_init = can_init;
        config.initialize = initialize;
        config.ctx = &d;
        config.on_failure = on_failure;
        CHECK_IS(lazy_once_configure(&d.once, &config), LAZY_OK);
        CHECK_IS(in_counting_call(&d), LAZY_QUEUED);
        CHECK_IS(atomic_load(&d.asked), 0); /* a call starts nothing */
        check_not_now(&d, lazy_once_init(&d.once), 900);
        check_not_now(&d, lazy_once_run(&d.once, never, NULL), 900);
        check_not_now(&d, lazy_once_init_timeout(&d.once, 0), 900);
        CHECK(atomic_load(&d.asked) >= 3);
        atomic_store(&d.capturing, -1);
        check_not_now(&d, LAZY_INIT(&d.once), -1);
        CHECK_IS(in_counting_call(&d), LAZY_QUEUED);
        begin(&other, in_counting_call, &d);
        CHECK_IS(ended(&other), LAZY_QUEUED);
        begin(&other, in_init, &d.once);
        CHECK_IS(ended(&other), LAZY_E_NOT_NOW);
        CHECK_IS(atomic_load(&d.ran), 0);
        CHECK_IS(info_of(&d.once).queued, 3);

        atomic_store(&d.capturing, 0);
        CHECK_IS(lazy_once_init(&d.once), LAZY_OK);
        CHECK_IS(atomic_load(&d.initialized), 1);
        CHECK_IS(atomic_load(&d.ran), 3);
        CHECK_IS(info_of(&d.once).attempts, 1);
        int asked = atomic_load(&d.asked);
        atomic_store(&d.capturing, 900);
        CHECK_IS(lazy_once_init(&d.once), LAZY_OK);
        CHECK_IS(in_counting_call(&d), LAZY_OK);
        CHECK_IS(atomic_load(&d.asked), asked);
        CHECK_IS(lazy_once_close(&d.once), LAZY_OK);
    }
    return finish();
}
