// Guards against a false alarm: an attempt is stuck only when its own thread and every worker under its permit are. While
// one of them is free, waits with a limit, or has yet to come, nobody is refused; and it lets the others go: by
// returning, or by closing what they wait for.
#include "lent_circle.h"

enum { OK = LAZY_OK, CLOSED = LAZY_E_CLOSED };

static void everybody_waits(int one, int other) {
    sleeps(one);
    sleeps(other);
    CHECK_IS(atomic_load(&alarms), 0);
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&a, &info), LAZY_OK);
    CHECK_IS(info.waiters, 1); /* B: asleep, not refused */
}
static void worker_is_free(void) {
    everybody_waits(A, B);
    CHECK_IS(lazy_once_close(&b), LAZY_OK);
}
static void owner_is_free(void) {
    everybody_waits(W, B);
    /* Its return ends the attempt of a. */
}
static void worker_is_limited(void) {
    CHECK_IS(lazy_once_init_timeout(&b, 200000000), LAZY_E_TIMEOUT);
    everybody_waits(A, B);
    CHECK_IS(lazy_once_close(&b), LAZY_OK);
}
static void owner_is_limited(void) {
    CHECK_IS(lazy_once_init_timeout(&b, 200000000), LAZY_E_TIMEOUT);
    everybody_waits(W, B);
}
static const struct part cases[][PARTS] = {
    /* in the order A, B, W, V: whether it plays, after whom, its result, whether it closes b when refused, what it does */
    { { 1, 0, CLOSED, 0, 0 }, { 1, 1 << A, OK, 0, 0 }, { 1, 0, 0, 0, worker_is_free }, { 0, 0, 0, 0, 0 } },
    { { 1, 1 << B, CLOSED, 0, 0 }, { 1, 0, OK, 0, 0 }, { 1, 0, 0, 0, worker_is_free }, { 0, 0, 0, 0, 0 } },
    { { 1, 0, CLOSED, 0, 0 }, { 1, 1 << A, OK, 0, 0 }, { 1, 0, CLOSED, 0, 0 }, { 1, 1 << W, 0, 0, worker_is_free } },
    { { 1, 0, 0, 0, owner_is_free }, { 1, 1 << W, OK, 0, 0 }, { 1, 0, OK, 0, 0 }, { 0, 0, 0, 0, 0 } },
    { { 1, 0, 0, 0, owner_is_free }, { 1, 0, OK, 0, 0 }, { 1, 1 << B, OK, 0, 0 }, { 0, 0, 0, 0, 0 } },
    { { 1, 0, CLOSED, 0, 0 }, { 1, 1 << A, OK, 0, 0 }, { 1, 0, 0, 0, worker_is_limited }, { 0, 0, 0, 0, 0 } },
    { { 1, 0, 0, 0, owner_is_limited }, { 1, 1 << W, OK, 0, 0 }, { 1, 0, OK, 0, 0 }, { 0, 0, 0, 0, 0 } },
};

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) CHECK_IS(play_all(cases[i]), 0);
    return finish();
}
