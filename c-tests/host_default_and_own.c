// Guards against the wrong host: a once's own goes before the process default, the others follow the default as it is when a
// call begins, NULL removes it, and a table without run_attached or of an unknown size is LAZY_E_INVALID, both as the default,
// which then stays as it was, and in a configuration.
#include "big_lock.h"
#include "callers.h"

static big_lock lock, own;
struct longer { lazy_host host; long more; };

static void init_uses(lazy_once *once, int of_default, int of_own) {
    big_reset(&lock);
    big_reset(&own);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_HOOKS(&lock, of_default, 0);
    CHECK_HOOKS(&own, of_own, 0);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
}
static void default_is_invalid(const lazy_host *host) {
    CHECK_IS(lazy_set_host(host), LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
}
static void own_is_invalid(const lazy_host *host) {
    lazy_once once = LAZY_ONCE_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    config.initialize = never;
    config.host = host;
    lazy_status status = lazy_once_configure(&once, &config);
    if (status == LAZY_OK) status = lazy_once_init(&once);
    CHECK_IS(status, LAZY_E_INVALID);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    CHECK_IS(lazy_once_init(&once), LAZY_E_INVALID);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    lazy_once plain = LAZY_ONCE_INIT, bound;
    lazy_config config = LAZY_CONFIG_INIT;
    config.initialize = nothing;
    big_begin(&lock, 0, "default");
    big_begin(&own, 1, "own");
    config.host = &own.host;
    bound = (lazy_once)LAZY_ONCE_WITH(&config);
    CHECK_IS(lazy_set_host(NULL), LAZY_OK);
    init_uses(&plain, 0, 0);
    init_uses(&bound, 0, 1);
    CHECK_IS(lazy_set_host(&lock.host), LAZY_OK);
    CHECK_HOOKS(&lock, 0, 0);
    init_uses(&plain, 1, 0);
    init_uses(&bound, 0, 1);
    init_uses(lazy_default(), 1, 0);
    init_uses(lazy_once_named("of the framework"), 1, 0);

    lazy_host bad = lock.host;
    bad.run_attached = NULL;
    default_is_invalid(&bad);
    own_is_invalid(&bad);
    const size_t sizes[] = { 0, 1, sizeof(size_t), offsetof(lazy_host, run_attached) };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bad = lock.host;
        bad.size = sizes[i];
        default_is_invalid(&bad);
        own_is_invalid(&bad);
    }
    struct longer newer = { lock.host, 1 };
    newer.host.size = sizeof newer;
    default_is_invalid(&newer.host);
    own_is_invalid(&newer.host);
    init_uses(&plain, 1, 0); /* as before */
    newer.more = 0;
    CHECK_IS(lazy_set_host(&newer.host), LAZY_OK);
    init_uses(&plain, 1, 0);
    lazy_host shorter = lock.host; /* of an older header, without wait_detached */
    shorter.size = offsetof(lazy_host, wait_detached);
    CHECK_IS(lazy_set_host(&shorter), LAZY_OK);
    init_uses(&plain, 1, 0);
    CHECK_IS(lazy_set_host(NULL), LAZY_OK);
    init_uses(&plain, 0, 0);
    init_uses(&bound, 0, 1);
    CHECK_IS(lazy_once_close(&bound), LAZY_OK);
    return finish();
}
