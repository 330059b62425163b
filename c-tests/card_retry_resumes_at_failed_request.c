// Guards against a retry that starts over: after a failed drain the requests that ran must not run again, nor the native
// initializer; the failing one comes first again, and then the rest, in order.
#include "check.h"

static char events[32];
static int failures_left = 2;

static void note(char letter) {
    size_t length = strlen(events);
    events[length] = letter;
    events[length + 1] = 0;
}
static int32_t initialize(void *ctx) { (void)ctx; note('I'); return 0; }
static int32_t good(void *letter) { note(*(const char *)letter); return 0; }
static int32_t fails_twice(void *ctx) {
    (void)ctx;
    note('f');
    return failures_left-- > 0 ? 3 : 0;
}
static int32_t added_later(void *ctx) { (void)ctx; note('z'); return 0; }
static const lazy_config config = { sizeof(lazy_config), "resumes", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

int main(void) {
    CHECK_IS(lazy_once_call(&once, good, "a"), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, good, "b"), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, fails_twice, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, good, "c"), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_HAS(events, "Iabf");
    CHECK_IS(strlen(events), 4);
    CHECK_IS(lazy_last_error()->code, 3);
    CHECK_IS(lazy_last_error()->attempt, 1);
    CHECK_IS(lazy_once_call(&once, added_later, NULL), LAZY_QUEUED); /* the once is fresh again */
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_HAS(events, "Iabff");
    CHECK_IS(strlen(events), 5);
    CHECK_IS(lazy_last_error()->attempt, 2);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_HAS(events, "Iabfffcz");
    CHECK_IS(strlen(events), 8);
    CHECK(lazy_once_is_initialized(&once));
    return finish();
}
