// Guards against a crash, or a silent success, on NULL and on onces of a layout that this library does not know: reset,
// close and info answer LAZY_E_INVALID, named NULL, and a configuration with policies that do not exist is refused.
#include "callers.h"

/* Through these a call takes the exported function, as a foreign-function interface does. */
static lazy_status (*volatile reset_it)(lazy_once *) = lazy_once_reset;
static lazy_status (*volatile close_it)(lazy_once *) = lazy_once_close;
static lazy_status (*volatile info_about)(const lazy_once *, lazy_info *) = lazy_once_info;
static lazy_once *(*volatile named)(const char *) = lazy_once_named;

static void check_invalid(lazy_status status) {
    CHECK_IS(status, LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK(*lazy_last_error()->message != 0);
}

int main(void) {
    lazy_info info = LAZY_INFO_INIT;
    check_invalid(reset_it(NULL));
    check_invalid(close_it(NULL));
    check_invalid(info_about(NULL, &info));
    check_invalid(info_about(lazy_default(), NULL));
    CHECK(named(NULL) == NULL);
    CHECK(lazy_last_error() != NULL);

    lazy_once later = LAZY_ONCE_INIT, kept;
    later.abi = 0x7fff0001;
    kept = later;
    check_invalid(reset_it(&later));
    check_invalid(close_it(&later));
    check_invalid(info_about(&later, &info));
    CHECK(!memcmp(&later, &kept, sizeof kept));

    /* A bound configuration that does not exist is found out at first use. */
    static const lazy_config wrong = { .size = sizeof(lazy_config), .name = "wrong", .on_failure = 99 };
    lazy_once bound = LAZY_ONCE_WITH(&wrong);
    check_invalid(lazy_once_init(&bound));
    check_invalid(lazy_once_call(&bound, never, NULL));

    static const struct { uint32_t on_failure, on_deferred_failure, contended; } unknown[] = {
        { LAZY_FAIL_STICKY + 1, 0, 0 }, { 0, LAZY_DEFERRED_CONTINUE + 1, 0 }, { 0, 0, LAZY_CONTENDED_QUEUE + 1 }
    };
    for (int i = 0; i < 3; i++) {
        lazy_config config = LAZY_CONFIG_INIT;
        lazy_once once = LAZY_ONCE_INIT;
        config.on_failure = unknown[i].on_failure;
        config.on_deferred_failure = unknown[i].on_deferred_failure;
        config.contended = unknown[i].contended;
        check_invalid(lazy_once_configure(&once, &config));
        CHECK_IS(info_of(&once).phase, LAZY_FRESH);
        check_invalid(lazy_once_configure(lazy_once_named("badly configured"), &config));
    }
    lazy_config good = LAZY_CONFIG_INIT; /* what was refused is no first configuration */
    CHECK_IS(lazy_once_configure(lazy_once_named("badly configured"), &good), LAZY_OK);
    CHECK_IS(lazy_once_init(lazy_once_named("badly configured")), LAZY_OK);
    return finish();
}
