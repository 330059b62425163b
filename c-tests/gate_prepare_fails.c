// Guards against a failed prepare that counts as an attempt, starts the initializer, sticks, or hides its reason: it is
// LAZY_E_INIT with its code and text, or the status that it names; the once stays fresh and keeps its queue.
#include "callers.h"

typedef struct plan { atomic_int prepared, initialized; lazy_status status; int32_t code, returned; } plan;

static int32_t prepare(void *ctx) {
    plan *p = (plan *)ctx;
    atomic_fetch_add(&p->prepared, 1);
    if (p->code == 0) return 0;
    if (p->status == LAZY_OK) lazy_fail(p->code, "the library cannot be loaded");
    else lazy_fail_status(p->status, p->code, "the library cannot be loaded");
    return p->returned;
}
static int32_t initialize(void *ctx) { return count(&((plan *)ctx)->initialized); }

static void fails(uint32_t on_failure, lazy_status named, lazy_status wanted, int32_t returned) {
    plan p = { .status = named, .code = 64, .returned = returned };
    lazy_once once = LAZY_ONCE_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    atomic_int ran = 0;
    config.name = "unprepared";
    config.prepare = prepare;
    config.initialize = initialize;
    config.ctx = &p;
    config.on_failure = on_failure;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    for (int i = 1; i <= 3; i++) {
        errno = 42;
        CHECK_IS(i == 2 ? lazy_once_run(&once, never, NULL) : lazy_once_init(&once), wanted);
        CHECK_IS(errno, 42);
        const lazy_error *error = lazy_last_error();
        CHECK_IS(error->status, wanted);
        CHECK_IS(error->code, returned);
        CHECK_IS(error->attempt, 0);
        if (returned == 64) CHECK_HAS(error->message, "the library cannot be loaded");
        CHECK(*error->message != 0);
        CHECK_IS(atomic_load(&p.prepared), i);
        CHECK_IS(info_of(&once).phase, LAZY_FRESH);
        CHECK_IS(info_of(&once).attempts, 0);
        CHECK_IS(info_of(&once).queued, i);
        CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    }
    CHECK_IS(atomic_load(&p.initialized), 0);
    p.code = 0;
    config.name = "renamed"; /* there was no attempt, so it is not too late */
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&p.initialized), 1);
    CHECK_IS(atomic_load(&ran), 4);
    CHECK_IS(info_of(&once).attempts, 1);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    for (uint32_t on_failure = LAZY_FAIL_SHARE; on_failure <= LAZY_FAIL_STICKY; on_failure++) {
        fails(on_failure, LAZY_OK, LAZY_E_INIT, 64);
        fails(on_failure, LAZY_E_UNAVAILABLE, LAZY_E_UNAVAILABLE, 64);
        fails(on_failure, LAZY_E_NOT_NOW, LAZY_E_NOT_NOW, 64);
        fails(on_failure, LAZY_QUEUED, LAZY_E_INIT, 64);
        fails(on_failure, LAZY_E_UNAVAILABLE, LAZY_E_INIT, 65); /* named for another code */
    }
    return finish();
}
