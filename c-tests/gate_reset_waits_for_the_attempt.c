// Guards against a reset that pulls the once away under a running attempt, or that waits longer than it may: it sleeps
// until the attempt ends, well or badly, in the initializer or in the drain; `timeout_ns` ends the wait with
// LAZY_E_TIMEOUT and changes nothing. It does not wait for callbacks that run on a ready once.
#include "callers.h"

static void waits(uint64_t limit, bool in_drain, int code) {
    hold stay = HOLD_INIT;
    lazy_once once = LAZY_ONCE_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner, resetter;
    config.name = "busy";
    config.initialize = in_drain ? nothing : held;
    config.ctx = &stay;
    config.timeout_ns = limit;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    if (in_drain) CHECK_IS(lazy_once_call(&once, held, &stay), LAZY_QUEUED);
    atomic_store(&stay.code, code);
    begin(&owner, in_init, &once);
    gate_wait(&stay.inside);
    begin(&resetter, in_reset, &once);
    if (limit) {
        CHECK_IS(ended(&resetter), LAZY_E_TIMEOUT);
        char thread[24];
        snprintf(thread, sizeof thread, "%d", atomic_load(&stay.thread));
        CHECK_IS(resetter.error.owner_thread, atomic_load(&stay.thread));
        CHECK_HAS(resetter.message, "\"busy\"");
        CHECK_HAS(resetter.message, thread);
        CHECK_HAS(resetter.message, in_drain ? "draining" : "initializing");
    } else {
        until_waiting(&resetter);
        CHECK_IS(info_of(&once).waiters, 0); /* those are asleep in init, run, call or submit */
    }
    CHECK_IS(info_of(&once).generation, 0);
    CHECK_IS(info_of(&once).phase, in_drain ? LAZY_DRAINING : LAZY_INITIALIZING);
    gate_open(&stay.go);
    CHECK_IS(ended(&owner), code == 0 ? LAZY_OK : in_drain ? LAZY_E_DEFERRED : LAZY_E_INIT);
    if (!limit) CHECK_IS(ended(&resetter), LAZY_OK);
    CHECK_IS(info_of(&once).generation, !limit);
    CHECK_IS(info_of(&once).phase, limit && code == 0 ? LAZY_READY : LAZY_FRESH);
    CHECK_IS(info_of(&once).queued, in_drain && code != 0);
    CHECK_IS(atomic_load(&stay.runs), 1);

    atomic_store(&stay.code, 0); /* all is well in either case */
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

static lazy_once ready = LAZY_ONCE_INIT;
static hold busy = HOLD_INIT;
static lazy_status runs_on_ready(void *ctx) { return lazy_once_call(&ready, held, ctx); }

int main(void) {
    for (int code = 0; code < 10; code += 9) {
        for (int in_drain = 0; in_drain < 2; in_drain++) {
            waits(0, in_drain, code);
            waits(1000000, in_drain, code);
        }
    }
    caller user;
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    begin(&user, runs_on_ready, &busy);
    gate_wait(&busy.inside);
    CHECK_IS(lazy_once_reset(&ready), LAZY_OK);
    CHECK(!lazy_once_is_initialized(&ready));
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    gate_open(&busy.go);
    CHECK_IS(ended(&user), LAZY_OK);
    return finish();
}
