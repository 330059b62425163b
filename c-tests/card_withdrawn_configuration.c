// Guards against a pointer into code that has been unloaded: configure(once, NULL) forgets what the configuration points to,
// in every phase, and what is initialized stays so; a once that still has to start only runs its queue then.
#include "check.h"

static int started, ran;
static int32_t initialize(void *ctx) {
    (void)ctx;
    started++;
    return 0;
}
static int32_t count(void *ctx) {
    (void)ctx;
    ran++;
    return 0;
}
static const lazy_config bound = { sizeof(lazy_config), "bound", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    /* Static: a configured once owns memory until it is closed. */
    static lazy_once configured = LAZY_ONCE_INIT, fresh = LAZY_ONCE_INIT, constant = LAZY_ONCE_WITH(&bound);
    config.initialize = initialize;
    CHECK_IS(lazy_once_configure(&configured, &config), LAZY_OK);
    CHECK_IS(lazy_once_init(&configured), LAZY_OK);
    CHECK_IS(started, 1);
    CHECK_IS(lazy_once_configure(&configured, NULL), LAZY_OK);
    CHECK(lazy_once_is_initialized(&configured));

    CHECK_IS(lazy_once_configure(&fresh, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&fresh, count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_configure(&fresh, NULL), LAZY_OK);
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    CHECK_IS(started, 1);
    CHECK_IS(ran, 1);

    CHECK_IS(lazy_once_configure(&constant, NULL), LAZY_OK);
    CHECK(constant.config == NULL);
    CHECK_IS(lazy_once_init(&constant), LAZY_OK);
    CHECK_IS(started, 1);
    CHECK_IS(lazy_once_configure(&constant, NULL), LAZY_OK);
    return finish();
}
