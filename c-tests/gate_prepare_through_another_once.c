// Guards against "inside prepare" that is forgotten on the way through another once, or that counts for every once:
// prepare of the first starts the second, whose own prepare runs, and whose initializer needs the first. That inner
// init does not prepare again: it owns the first's attempt, and each part runs once.
#include "callers.h"

static lazy_once first = LAZY_ONCE_INIT, second = LAZY_ONCE_INIT;
static atomic_int prepared[2], initialized[2];

static int32_t prepare_first(void *ctx) {
    (void)ctx;
    CHECK_IS(count(&prepared[0]), 0);
    CHECK_IS(lazy_once_init(&second), LAZY_OK);
    CHECK(lazy_once_is_initialized(&first));
    return 0;
}
static int32_t initialize_first(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_is_initializing(&first));
    CHECK(lazy_once_is_initializing(&second));
    CHECK_IS(lazy_once_init(&second), LAZY_IN_PROGRESS);
    return count(&initialized[0]);
}
static int32_t prepare_second(void *ctx) {
    (void)ctx;
    CHECK(!lazy_once_is_initializing(&first));
    CHECK(!lazy_once_is_initializing(&second));
    return count(&prepared[1]);
}
static int32_t initialize_second(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_is_initializing(&second));
    CHECK_IS(lazy_once_init(&first), LAZY_OK);
    return count(&initialized[1]);
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "first";
    config.prepare = prepare_first;
    config.initialize = initialize_first;
    CHECK_IS(lazy_once_configure(&first, &config), LAZY_OK);
    config.name = "second";
    config.prepare = prepare_second;
    config.initialize = initialize_second;
    CHECK_IS(lazy_once_configure(&second, &config), LAZY_OK);
    CHECK_IS(lazy_once_init(&first), LAZY_OK);
    CHECK(lazy_once_is_initialized(&second));
    for (int i = 0; i < 2; i++) {
        CHECK_IS(atomic_load(&prepared[i]), 1);
        CHECK_IS(atomic_load(&initialized[i]), 1);
    }
    CHECK(!lazy_once_is_initializing(&first));
    CHECK(!lazy_once_is_initializing(&second));
    CHECK_IS(lazy_once_close(&first), LAZY_OK);
    CHECK_IS(lazy_once_close(&second), LAZY_OK);
    return finish();
}
