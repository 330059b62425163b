// Guards against a crash, or a silent success, on NULL and malformed arguments: every exported function answers
// LAZY_E_INVALID, or false, also where the once is ready and the fast path would not look.
#include "check.h"

/* Through these a call takes the exported function, as a foreign-function interface does, not the inline path. */
static lazy_status (*volatile init)(lazy_once *) = lazy_once_init;
static lazy_status (*volatile run)(lazy_once *, lazy_fn, void *) = lazy_once_run;
static lazy_status (*volatile call)(lazy_once *, lazy_fn, void *) = lazy_once_call;
static lazy_status (*volatile configure)(lazy_once *, const lazy_config *) = lazy_once_configure;
static bool (*volatile initialized)(const lazy_once *) = lazy_once_is_initialized;
static bool (*volatile initializing)(const lazy_once *) = lazy_once_is_initializing;

static int ran;
static int32_t count(void *ctx) {
    (void)ctx;
    ++ran;
    return 0;
}
static const lazy_config good = { sizeof(lazy_config), "good", count, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

static void check_config(lazy_config config, lazy_status wanted) {
    lazy_once once = LAZY_ONCE_INIT;
    CHECK_IS(configure(&once, &config), wanted);
    CHECK_IS(lazy_last_error()->status, wanted);
    CHECK(once.impl == NULL); /* nothing was kept of what was refused */
    CHECK_IS(once.state, 0);
}

int main(void) {
    CHECK_IS(init(NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK_IS(run(NULL, count, NULL), LAZY_E_INVALID);
    CHECK_IS(call(NULL, count, NULL), LAZY_E_INVALID);
    CHECK_IS(configure(NULL, &good), LAZY_E_INVALID);
    CHECK(!initialized(NULL));
    CHECK(!initializing(NULL));

    lazy_once once = LAZY_ONCE_INIT;
    CHECK_IS(call(&once, NULL, NULL), LAZY_E_INVALID);
    CHECK_IS(run(&once, NULL, NULL), LAZY_E_INVALID);
    CHECK(!initialized(&once));
    CHECK_IS(init(&once), LAZY_OK);
    CHECK_IS(call(&once, NULL, NULL), LAZY_E_INVALID);
    CHECK_IS(call(&once, count, NULL), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK_IS(lazy_call(NULL, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(lazy_call(NULL, NULL), LAZY_E_INVALID);

    /* A layout that a later version may bring. */
    lazy_once later = LAZY_ONCE_INIT;
    later.abi = 0x7fff0001;
    CHECK_IS(init(&later), LAZY_E_INVALID);
    CHECK_IS(run(&later, count, NULL), LAZY_E_INVALID);
    CHECK_IS(call(&later, count, NULL), LAZY_E_INVALID);
    CHECK_IS(configure(&later, &good), LAZY_E_INVALID);
    CHECK(!initialized(&later));
    CHECK(!initializing(&later));
    CHECK_IS(ran, 1);

    lazy_config config = good;
    config.size = 0;
    check_config(config, LAZY_E_INVALID);
    config.size = sizeof(size_t);
    check_config(config, LAZY_E_INVALID);
    config.size = offsetof(lazy_config, initialize) - 1;
    check_config(config, LAZY_E_INVALID);
    config = good;
    config.on_failure = LAZY_FAIL_STICKY + 1;
    check_config(config, LAZY_E_INVALID);
    config = good;
    config.on_deferred_failure = LAZY_DEFERRED_CONTINUE + 1;
    check_config(config, LAZY_E_INVALID);
    config = good;
    config.on_fork = LAZY_FORK_RESET + 1;
    check_config(config, LAZY_E_INVALID);
    config = good;
    config.contended = LAZY_CONTENDED_QUEUE + 1;
    check_config(config, LAZY_E_INVALID);

    struct { lazy_config known; uint64_t unknown[2]; } longer = { good, { 0, 0 } };
    longer.known.size = sizeof longer;
    static lazy_once taken;
    CHECK_IS(configure(&taken, &longer.known), LAZY_OK);
    CHECK_IS(init(&taken), LAZY_OK);
    CHECK_IS(ran, 2);
    longer.unknown[1] = 1; /* asks for something that this library does not have */
    lazy_once untouched = LAZY_ONCE_INIT;
    CHECK_IS(configure(&untouched, &longer.known), LAZY_E_INVALID);

    /* An older caller's shorter struct: what it does not cover is 0, whatever lies behind. */
    lazy_config shorter = good;
    shorter.size = offsetof(lazy_config, on_failure);
    shorter.on_failure = 99;
    static lazy_once old;
    CHECK_IS(configure(&old, &shorter), LAZY_OK);
    CHECK_IS(init(&old), LAZY_OK);
    CHECK_IS(ran, 3);

    static lazy_config wrong = { sizeof(lazy_config), "wrong", count, 0, 0, 0, 0, 99, 0, 0, 0, 0 };
    lazy_once bound = LAZY_ONCE_WITH(&wrong);
    CHECK_IS(init(&bound), LAZY_E_INVALID);
    CHECK(!initialized(&bound));
    CHECK_IS(ran, 3);
    return finish();
}
