// Guards against a false alarm: an edge ends when the awaited attempt ends, not when its waiter wakes. The owner of x
// waits, behind a crowd of others, for an attempt of a that fails; the same thread begins the next attempt of a, which
// needs x, before the sleepers are up. No circle stands: the waiter returns with the first attempt's failure, and x and a
// get ready.
#include "waiters.h"

enum { CROWD = 16 };
static lazy_once a, x;
static waiter crowd[CROWD], x_owner;

static int32_t needs_first_attempt(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&a), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->attempt, 1);
    return 0;
}
static lazy_status start_x(lazy_once *once) {
    return lazy_once_run(once, needs_first_attempt, NULL);
}
static int32_t fails(void *ctx) {
    (void)ctx;
    for (int i = 0; i < CROWD; i++) {
        waiter_start(&crowd[i], &a, wait_in_init);
        if (i == CROWD / 2) waiter_start(&x_owner, &x, start_x);
    }
    for (int i = 0; i < CROWD; i++) waiter_asleep(&crowd[i]);
    waiter_asleep(&x_owner);
    return 1;
}
static int32_t needs_x(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&x), LAZY_OK);
    return 0;
}

int main(void) {
    for (long i = rounds(25); i > 0; i--) {
        a = x = (lazy_once)LAZY_ONCE_INIT;
        CHECK_IS(lazy_once_run(&a, fails, NULL), LAZY_E_INIT);
        CHECK_IS(lazy_once_run(&a, needs_x, NULL), LAZY_OK);
        CHECK_IS(waiter_join(&x_owner), LAZY_OK);
        for (int j = 0; j < CROWD; j++) {
            CHECK_IS(waiter_join(&crowd[j]), LAZY_E_INIT);
            CHECK_IS(crowd[j].attempt, 1);
        }
    }
    return finish();
}
