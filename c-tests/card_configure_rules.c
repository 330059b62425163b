// flags: -rdynamic
// Guards against a configuration that changes under those who already rely on it: after the first attempt a different one
// is LAZY_E_TOO_LATE and says who initialised; an equal one is fine; before that the struct is copied, name included.
#include "check.h"

static int ran_first, ran_second;
static int32_t first(void *ctx) { (void)ctx; return ++ran_first < 0; }
static int32_t second(void *ctx) { (void)ctx; return ++ran_second < 0; }
static int32_t fails(void *ctx) { (void)ctx; return 6; }
static lazy_once once, failed = LAZY_ONCE_INIT;

__attribute__((noinline)) lazy_status initializes_it(void);
lazy_status initializes_it(void) {
    lazy_status status = lazy_once_init(&once);
    CHECK_IS(status, LAZY_OK);
    return status;
}

int main(void) {
    char name[16] = "configured";
    lazy_config config = LAZY_CONFIG_INIT;
    CHECK_IS(config.size, sizeof config);
    config.name = name;
    config.initialize = second;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    config.initialize = first; /* before the first attempt the last one counts */
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    lazy_config same = config;
    char again[16] = "configured";
    same.name = again;
    memset(&config, 0xee, sizeof config);
    memset(name, 'x', sizeof name - 1);

    initializes_it();
    CHECK_IS(ran_first, 1);
    CHECK_IS(ran_second, 0);
    CHECK_IS(lazy_once_configure(&once, &same), LAZY_OK);
    lazy_config different = same;
    different.initialize = second;
    CHECK_IS(lazy_once_configure(&once, &different), LAZY_E_TOO_LATE);
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->status, LAZY_E_TOO_LATE);
    CHECK_HAS(error->once, "configured");
    CHECK_HAS(error->init_site.function, "initializes_it");
    CHECK_HAS(error->init_site.file, program_invocation_short_name);
    CHECK_HAS(error->message, "initializes_it");
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(ran_second, 0);

    /* A failed attempt is an attempt. */
    lazy_config failing = LAZY_CONFIG_INIT;
    failing.initialize = fails;
    CHECK_IS(lazy_once_configure(&failed, &failing), LAZY_OK);
    CHECK_IS(lazy_once_init(&failed), LAZY_E_INIT);
    CHECK_IS(lazy_once_configure(&failed, &failing), LAZY_OK);
    CHECK_IS(lazy_once_configure(&failed, &same), LAZY_E_TOO_LATE);
    return finish();
}
