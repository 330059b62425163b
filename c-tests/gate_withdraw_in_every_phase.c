// Guards against a call into code that has been unloaded: configure(once, NULL) is LAZY_OK in every phase and from
// inside; what is running goes on, what is ready stays ready, what has failed for good stays so; and from then on
// nothing that the configuration pointed to is called, neither the initializer nor prepare nor can_init, also after a
// reset.
#include "callers.h"

typedef struct plugin {
    hold initializing, draining;
    atomic_int prepared, asked;
    lazy_once once;
    bool withdraws_inside;
} plugin;

static int32_t prepare(void *p) { return count(&((plugin *)p)->prepared); }
static int32_t can_init(void *p) { return count(&((plugin *)p)->asked); }
static int32_t initialize(void *ctx) {
    plugin *p = (plugin *)ctx;
    if (p->withdraws_inside) CHECK_IS(lazy_once_configure(&p->once, NULL), LAZY_OK);
    return held(&p->initializing);
}
enum { BEFORE, INITIALIZING, FROM_INSIDE, DRAINING, AFTER, PHASES };

static void withdraw(plugin *p, uint32_t phase) {
    CHECK_IS(info_of(&p->once).phase, phase);
    CHECK_IS(lazy_once_configure(&p->once, NULL), LAZY_OK);
    CHECK_IS(info_of(&p->once).phase, phase);
    CHECK_IS(lazy_once_configure(&p->once, NULL), LAZY_OK);
}
static void in_phase(plugin *p, int when, int code, uint32_t on_failure) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner;
    config.name = "plugin";
    config.initialize = initialize;
    config.prepare = prepare;
    config.can_init = can_init;
    config.on_failure = on_failure;
    config.ctx = p;
    p->withdraws_inside = when == FROM_INSIDE;
    atomic_store(&p->initializing.code, code);
    CHECK_IS(lazy_once_configure(&p->once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&p->once, held, &p->draining), LAZY_QUEUED);
    if (when == BEFORE) withdraw(p, LAZY_FRESH);
    begin(&owner, in_init, &p->once);
    if (when != BEFORE) gate_wait(&p->initializing.inside);
    if (when == INITIALIZING) withdraw(p, LAZY_INITIALIZING);
    gate_open(&p->initializing.go);
    if (code == 0) {
        gate_wait(&p->draining.inside);
        if (when == DRAINING) withdraw(p, LAZY_DRAINING);
    }
    gate_open(&p->draining.go);
    CHECK_IS(ended(&owner), code ? LAZY_E_INIT : LAZY_OK);
    CHECK_IS(atomic_load(&p->initializing.runs), when != BEFORE);
    CHECK_IS(atomic_load(&p->prepared), when != BEFORE);
    int asked = atomic_load(&p->asked);
    CHECK_IS(asked > 0, when != BEFORE);
    uint32_t phase = !code ? LAZY_READY : on_failure == LAZY_FAIL_STICKY ? LAZY_FAILED : LAZY_FRESH;
    withdraw(p, phase);
    if (phase == LAZY_FAILED) {
        CHECK_IS(lazy_once_init(&p->once), LAZY_E_INIT);
        CHECK_IS(lazy_last_error()->code, code);
    }
    if (phase != LAZY_FRESH) CHECK_IS(lazy_once_reset(&p->once), LAZY_OK);
    CHECK_IS(lazy_once_init(&p->once), LAZY_OK); /* only the queue is left */
    CHECK_IS(atomic_load(&p->initializing.runs), when != BEFORE);
    CHECK_IS(atomic_load(&p->prepared), when != BEFORE);
    CHECK_IS(atomic_load(&p->asked), asked);
    CHECK_IS(atomic_load(&p->draining.runs), 1);
    CHECK_IS(lazy_once_close(&p->once), LAZY_OK);
}

int main(void) {
    static const plugin fresh = { .initializing = HOLD_INIT, .draining = HOLD_INIT };
    for (int when = BEFORE; when < PHASES; when++) {
        plugin p = fresh;
        in_phase(&p, when, 0, LAZY_FAIL_SHARE);
    }
    for (uint32_t on_failure = LAZY_FAIL_SHARE; on_failure <= LAZY_FAIL_STICKY; on_failure++) {
        for (int when = INITIALIZING; when <= AFTER; when++) {
            plugin p = fresh;
            if (when != DRAINING) in_phase(&p, when, 4, on_failure);
        }
    }
    return finish();
}
