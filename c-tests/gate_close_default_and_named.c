// Guards against one of several users closing what all of them share: close of the default and of a named once is
// LAZY_E_INVALID, fresh and ready, configured or not, also from inside, and changes nothing.
#include "callers.h"

static atomic_int ran;
static int32_t closes(void *once) {
    CHECK_IS(lazy_once_close((lazy_once *)once), LAZY_E_INVALID);
    return count(&ran);
}
static void check_stays_open(lazy_once *once) {
    atomic_store(&ran, 0);
    CHECK_IS(lazy_once_close(once), LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK(*lazy_last_error()->message != 0);
    CHECK_IS(info_of(once).phase, LAZY_FRESH);
    CHECK_IS(lazy_once_call(once, closes, once), LAZY_QUEUED);
    CHECK_IS(lazy_once_close(once), LAZY_E_INVALID);
    CHECK_IS(info_of(once).queued, 1);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(lazy_once_close(once), LAZY_E_INVALID);
    CHECK(lazy_once_is_initialized(once));
    CHECK_IS(lazy_once_call(once, closes, once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 2);
    CHECK_IS(lazy_once_reset(once), LAZY_OK); /* what to use instead */
    CHECK_IS(lazy_once_init(once), LAZY_OK);
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "configured";
    lazy_once *named = lazy_once_named("shared by two"), *configured = lazy_once_named("shared by three");
    CHECK_IS(lazy_once_configure(configured, &config), LAZY_OK);
    check_stays_open(named);
    check_stays_open(configured);
    check_stays_open(lazy_default());
    CHECK(is_initialized());
    CHECK(lazy_once_named("shared by two") == named);
    return finish();
}
