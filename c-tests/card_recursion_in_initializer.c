// Guards against an initializer that calls back into its own gate and hangs, starts a second attempt, or is told that
// the device is ready: it gets IN_PROGRESS and QUEUED, and only its own thread counts as initializing.
#include "check.h"
#include <stdatomic.h>

static int initializer_ran, request_ran;
static lazy_once once;

static int32_t request(void *ctx) {
    (void)ctx;
    ++request_ran;
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK(lazy_once_is_initializing(&once));
    CHECK(!lazy_once_is_initialized(&once));
    return 0;
}
static void *other_thread(void *ctx) {
    (void)ctx;
    CHECK(!lazy_once_is_initializing(&once));
    CHECK(!lazy_once_is_initialized(&once));
    return NULL;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    ++initializer_ran;
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_call(&once, request, NULL), LAZY_QUEUED);
    CHECK_IS(request_ran, 0);
    CHECK(lazy_once_is_initializing(&once));
    CHECK(!lazy_once_is_initialized(&once));
    join(start(other_thread, NULL));
    return 0;
}

int main(void) {
    static const lazy_config config = { sizeof(lazy_config), "recursive", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK(lazy_once_is_initialized(&once));
    CHECK_IS(initializer_ran, 1);
    CHECK_IS(request_ran, 1);
    return finish();
}
