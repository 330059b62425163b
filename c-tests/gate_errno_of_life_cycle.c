// Guards against a call that leaves its own errno in the middle of the caller's error handling: reset, close, info,
// configure, the named onces and the dump keep it, when they succeed, fail, wait and are given up; so do callbacks that
// run for others.
#include "callers.h"

enum { KEPT = 4242 };
#define KEEPS(call) do { errno = KEPT; (void)(call); CHECK_IS(errno, KEPT); } while (0)

static int32_t sets_errno(void *ctx) {
    errno = 7;
    return ctx ? lazy_fail_status(LAZY_E_UNAVAILABLE, 5, "no") : 0;
}
static void drop(void *ctx) {
    (void)ctx;
    errno = 8;
}
static hold start_up = HOLD_INIT;
static lazy_once once;
static lazy_status keeping_reset(void *o) {
    errno = KEPT;
    lazy_status status = lazy_once_reset((lazy_once *)o);
    CHECK_IS(errno, KEPT);
    return status;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_info info = LAZY_INFO_INIT;
    caller owner, resetter;
    int null = open("/dev/null", O_WRONLY);
    config.name = "keeps errno";
    config.prepare = config.can_init = config.initialize = sets_errno;
    request.fn = sets_errno;
    request.drop = drop;
    KEEPS(lazy_once_configure(&once, &config));
    KEEPS(lazy_once_submit(&once, &request, NULL));
    KEEPS(lazy_once_info(&once, &info));
    KEEPS(lazy_once_info(&once, NULL));
    KEEPS(lazy_once_named("keeps errno"));
    KEEPS(lazy_once_named("keeps errno"));
    KEEPS(lazy_once_named(NULL));
    KEEPS(lazy_dump(null));
    KEEPS(lazy_dump(-1));
    CHECK_IS(close(null), 0);
    KEEPS(lazy_once_reset(&once));
    KEEPS(lazy_once_init(&once));
    CHECK(lazy_once_is_initialized(&once));
    KEEPS(lazy_once_reset(&once));
    KEEPS(lazy_once_configure(&once, NULL));
    config.ctx = &config; /* now each of the three in turn says no */
    for (int i = 0; i < 3; i++) {
        config.prepare = i == 0 ? sets_errno : NULL;
        config.can_init = i == 1 ? sets_errno : NULL;
        KEEPS(lazy_once_configure(&once, &config));
        KEEPS(lazy_once_init(&once));
        CHECK(!lazy_once_is_initialized(&once));
    }
    KEEPS(lazy_fail_status(LAZY_E_UNAVAILABLE, 1, "text"));
    KEEPS(lazy_once_reset(&once));
    config.prepare = config.can_init = NULL;
    config.initialize = held;
    config.ctx = &start_up;
    config.timeout_ns = 1000000;
    KEEPS(lazy_once_configure(&once, &config));
    KEEPS(lazy_once_submit(&once, &request, NULL));
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    begin(&resetter, keeping_reset, &once);
    CHECK_IS(ended(&resetter), LAZY_E_TIMEOUT);
    KEEPS(lazy_once_close(&once)); /* runs a drop, which is not the closer's own */
    KEEPS(lazy_once_close(&once));
    KEEPS(lazy_once_reset(&once));
    KEEPS(lazy_once_init(&once));
    KEEPS(lazy_once_close(lazy_default()));
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_E_CLOSED);
    return finish();
}
