// Guards against an initializer whose failure is taken for success, poisons the once, or throws the queue away: the code
// and the text must reach the caller, the queue must wait, and the next attempt must run the initializer again.
#include "check.h"

static int attempts, ran;
static int32_t initialize(void *ctx) {
    CHECK_IS(*(int *)ctx, 1234);
    if (++attempts == 1) return lazy_fail(100, "no device was found");
    if (attempts == 2) return -5; /* any value but 0, and no text */
    return 0;
}
static int context = 1234;
static const lazy_config config = { sizeof(lazy_config), "retried", initialize, &context, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);
static int32_t count(void *ctx) { (void)ctx; return ++ran < 0; }

int main(void) {
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->status, LAZY_E_INIT);
    CHECK_IS(error->code, 100);
    CHECK_IS(error->attempt, 1);
    CHECK_HAS(error->message, "no device was found");
    CHECK_HAS(error->once, "retried");
    CHECK(!lazy_once_is_initialized(&once));
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED);
    CHECK_IS(ran, 0);

    CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
    error = lazy_last_error();
    CHECK_IS(error->code, -5);
    CHECK_IS(error->attempt, 2);
    CHECK(!strstr(error->message, "no device was found")); /* the text of another failure */

    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(attempts, 3);
    CHECK_IS(ran, 2);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(attempts, 3);
    return finish();
}
