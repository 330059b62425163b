// Guards against a reset inside the attempt that waits for itself or tears the attempt down: in the initializer and in a
// queued request it is LAZY_IN_PROGRESS and nothing changes. A callback that runs on a ready once is not inside.
#include "callers.h"

static lazy_once once = LAZY_ONCE_INIT;
static atomic_int started, ran;

static int32_t resets_in_vain(void *runs) {
    lazy_info before = info_of(&once);
    CHECK_IS(lazy_once_reset(&once), LAZY_IN_PROGRESS);
    lazy_info after = info_of(&once);
    CHECK_IS(after.phase, before.phase);
    CHECK_IS(after.generation, 0);
    CHECK_IS(after.attempts, 1);
    CHECK_IS(after.queued, before.queued);
    CHECK(lazy_once_is_initializing(&once));
    return count(runs);
}
static int32_t resets(void *runs) {
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK(!lazy_once_is_initialized(&once));
    return count(runs);
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "resets itself";
    config.initialize = resets_in_vain;
    config.ctx = &started;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, resets_in_vain, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, resets_in_vain, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK(lazy_once_is_initialized(&once));
    CHECK_IS(atomic_load(&started), 1);
    CHECK_IS(atomic_load(&ran), 2);
    CHECK_IS(lazy_once_call(&once, resets, &ran), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 3);
    CHECK_IS(info_of(&once).generation, 1);
    CHECK_IS(info_of(&once).phase, LAZY_FRESH);
    return finish();
}
