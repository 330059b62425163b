// Guards against a library that needs its own constructors: a plugin's constructor runs before main, perhaps before the
// library's, and must be able to queue and to initialize.
#include "check.h"

static int initialized, ran;
static int32_t initialize(void *ctx) { (void)ctx; return ++initialized < 0; }
static int32_t count(void *ctx) { (void)ctx; return ++ran < 0; }
static const lazy_config config = { sizeof(lazy_config), "early", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

__attribute__((constructor(101))) static void earliest(void) {
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_call(count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_configure(lazy_default(), &config), LAZY_OK);
}
__attribute__((constructor)) static void early(void) {
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(initialized, 1);
    CHECK_IS(ran, 1);
}

int main(void) {
    CHECK(lazy_once_is_initialized(&once));
    CHECK(!lazy_is_initialized());
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(initialized, 2);
    CHECK_IS(ran, 2);
    return finish();
}
