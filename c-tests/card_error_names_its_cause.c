// Guards against the message "a queued callback failed" with nothing behind it: the failing call that the callback made
// is the cause, and an earlier failure, or one of another request, is not.
#include "check.h"

static lazy_once outer = LAZY_ONCE_INIT, inner = LAZY_ONCE_INIT;
static int32_t inner_fails(void *ctx) { (void)ctx; return lazy_fail(51, "the inner one broke"); }
static int32_t outer_fails(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&inner, inner_fails, NULL), LAZY_E_CALLBACK);
    return lazy_fail(52, "so the outer one did");
}
static int failures_left = 1;
static int32_t fails_alone(void *ctx) { (void)ctx; return failures_left-- > 0 ? 53 : 0; }

int main(void) {
    static lazy_once third = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_init(&inner), LAZY_OK);
    CHECK_IS(lazy_once_call(&outer, outer_fails, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&outer), LAZY_E_DEFERRED);
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->code, 52);
    CHECK_HAS(error->message, "so the outer one did");
    CHECK(error->cause != NULL);
    CHECK_IS(error->cause->status, LAZY_E_CALLBACK);
    CHECK_IS(error->cause->code, 51);
    CHECK_HAS(error->cause->message, "the inner one broke");

    CHECK_IS(lazy_once_call(&third, fails_alone, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&third), LAZY_E_DEFERRED);
    CHECK_IS(lazy_last_error()->code, 53);
    CHECK(lazy_last_error()->cause == NULL);
    CHECK_IS(lazy_once_init(&third), LAZY_OK);
    return finish();
}
