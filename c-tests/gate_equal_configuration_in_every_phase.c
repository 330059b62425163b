// Guards against a second framework that is refused although it asks for the same: an equal configuration is LAZY_OK in
// every phase, from inside and from outside, by value and not by address; a different one is LAZY_E_TOO_LATE from the
// first attempt on and changes nothing.
#include "callers.h"

static hold start_up = HOLD_INIT, request = HOLD_INIT;
static atomic_int fails;
static int32_t initialize(void *once);
static int32_t other(void *ctx) { return never(ctx); }
static lazy_config equal_to(uint32_t on_failure, lazy_once *once) {
    static char names[2][16] = { "configured", "configured" };
    static int next;
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = names[next++ % 2];
    config.initialize = initialize;
    config.ctx = once;
    config.on_failure = on_failure;
    return config;
}
static void check(lazy_once *once, uint32_t on_failure, uint32_t phase) {
    CHECK_IS(info_of(once).phase, phase);
    lazy_config same = equal_to(on_failure, once), different = same;
    CHECK_IS(lazy_once_configure(once, &same), LAZY_OK);
    different.name = "another name";
    CHECK_IS(lazy_once_configure(once, &different), LAZY_E_TOO_LATE);
    different = same;
    different.initialize = other;
    CHECK_IS(lazy_once_configure(once, &different), LAZY_E_TOO_LATE);
    different = same;
    different.ctx = &different;
    CHECK_IS(lazy_once_configure(once, &different), LAZY_E_TOO_LATE);
    different = same;
    different.timeout_ns = 1;
    CHECK_IS(lazy_once_configure(once, &different), LAZY_E_TOO_LATE);
    CHECK_IS(lazy_last_error()->status, LAZY_E_TOO_LATE);
    CHECK_IS(info_of(once).phase, phase);
    CHECK_HAS(info_of(once).name, "configured");
}
static int32_t initialize(void *once) {
    check((lazy_once *)once, atomic_load(&fails) ? LAZY_FAIL_STICKY : LAZY_FAIL_SHARE, LAZY_INITIALIZING);
    return atomic_load(&fails) ? 3 : held(&start_up);
}
static int32_t request_inside(void *once) {
    check((lazy_once *)once, LAZY_FAIL_SHARE, LAZY_DRAINING);
    return held(&request);
}

int main(void) {
    static lazy_once once, failing, bound;
    lazy_config config = equal_to(LAZY_FAIL_SHARE, &once);
    caller owner;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, request_inside, &once), LAZY_QUEUED);
    config = equal_to(LAZY_FAIL_SHARE, &once);
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    check(&once, LAZY_FAIL_SHARE, LAZY_INITIALIZING);
    gate_open(&start_up.go);
    gate_wait(&request.inside);
    check(&once, LAZY_FAIL_SHARE, LAZY_DRAINING);
    gate_open(&request.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    check(&once, LAZY_FAIL_SHARE, LAZY_READY);

    atomic_store(&fails, 1);
    config = equal_to(LAZY_FAIL_STICKY, &failing);
    CHECK_IS(lazy_once_configure(&failing, &config), LAZY_OK);
    CHECK_IS(lazy_once_init(&failing), LAZY_E_INIT);
    check(&failing, LAZY_FAIL_STICKY, LAZY_FAILED);

    static lazy_config constant; /* LAZY_ONCE_WITH, at run time */
    atomic_store(&fails, 0);
    constant = equal_to(LAZY_FAIL_SHARE, &bound);
    bound = (lazy_once)LAZY_ONCE_WITH(&constant);
    config = equal_to(LAZY_FAIL_SHARE, &bound);
    CHECK_IS(lazy_once_configure(&bound, &config), LAZY_OK);
    CHECK_IS(lazy_once_init(&bound), LAZY_OK);
    check(&bound, LAZY_FAIL_SHARE, LAZY_READY);
    return finish();
}
