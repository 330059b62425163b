// Guards against a callback that fails on a ready once, or nested in a drain, and takes the once down with it, or whose
// failure is taken for success: LAZY_E_CALLBACK, its code and its own text, and the once goes on.
#include "check.h"

static lazy_once once = LAZY_ONCE_INIT;
static int ran;
static int32_t fails(void *text) { return text ? lazy_fail(31, (const char *)text) : 31; }
static int32_t fails_silently(void *ctx) { (void)ctx; return 32; }
static int32_t works(void *ctx) { (void)ctx; return ++ran < 0; }

static int32_t drained(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&once, fails, "nested in the drain"), LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->status, LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 31);
    CHECK_HAS(lazy_last_error()->message, "nested in the drain");
    CHECK_IS(lazy_once_call(&once, works, NULL), LAZY_OK);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_call(&once, drained, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK); /* the nested failure was the callback's to handle */
    CHECK(lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_call(&once, fails, "on a ready once"), LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->status, LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 31);
    CHECK_HAS(lazy_last_error()->message, "on a ready once");
    CHECK(lazy_last_error()->cause == NULL);
    CHECK_IS(lazy_once_call(&once, fails, NULL), LAZY_E_CALLBACK);
    CHECK(!strstr(lazy_last_error()->message, "on a ready once")); /* a text is used once */
    CHECK_IS(lazy_fail(99, "of somebody else"), 99);
    CHECK_IS(lazy_once_call(&once, fails_silently, NULL), LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 32);
    CHECK(!strstr(lazy_last_error()->message, "of somebody else")); /* nor by a failure with another code */
    CHECK(lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_call(&once, works, NULL), LAZY_OK);
    CHECK_IS(ran, 2);
    return finish();
}
