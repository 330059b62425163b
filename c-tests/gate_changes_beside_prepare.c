// Guards against a decision that is taken before prepare or can_init and kept although the world has changed: while one
// thread is inside, another closes, resets, withdraws or replaces the configuration, none of which waits; what then
// happens is what the once is now, and the withdrawn initializer is not called.
#include "callers.h"

enum { CLOSE, RESET, WITHDRAW, REPLACE, CHANGES };
static atomic_int ran;
static hold stay;
static bool in_can_init;
static int change;
static atomic_int initialized, instead;

static int32_t prepare(void *ctx) {
    (void)ctx;
    return in_can_init ? 0 : held(&stay);
}
static int32_t can_init(void *ctx) {
    (void)ctx;
    return in_can_init && !atomic_load(&stay.runs) ? held(&stay) : 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK(change == RESET);
    return count(&initialized);
}

static void changes(lazy_once *once) {
    lazy_config config = LAZY_CONFIG_INIT;
    const hold closed = HOLD_INIT;
    caller preparing;
    stay = closed;
    atomic_store(&ran, 0);
    atomic_store(&initialized, 0);
    atomic_store(&instead, 0);
    config.name = "changing";
    config.prepare = prepare;
    config.can_init = can_init;
    config.initialize = initialize;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    begin(&preparing, in_init, once);
    gate_wait(&stay.inside);
    if (change == CLOSE) {
        CHECK_IS(lazy_once_close(once), LAZY_OK);
    } else if (change == RESET) {
        CHECK_IS(lazy_once_reset(once), LAZY_OK);
    } else if (change == WITHDRAW) {
        CHECK_IS(lazy_once_configure(once, NULL), LAZY_OK);
    } else {
        config.prepare = config.can_init = NULL;
        config.initialize = count;
        config.ctx = &instead;
        CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    }
    gate_open(&stay.go);
    CHECK_IS(ended(&preparing), change == CLOSE ? LAZY_E_CLOSED : LAZY_OK);
    CHECK_IS(atomic_load(&ran), change != CLOSE);
    CHECK_IS(atomic_load(&initialized), change == RESET);
    CHECK_IS(atomic_load(&instead), change == REPLACE);
    lazy_info info = info_of(once);
    CHECK_IS(info.phase, change == CLOSE ? LAZY_CLOSED : LAZY_READY);
    if (change != CLOSE) CHECK_IS(info.attempts, 1);
    CHECK_IS(info.generation, change == RESET);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
}

int main(void) {
    static lazy_once onces[2][CHANGES];
    for (int hook = 0; hook < 2; hook++) {
        in_can_init = hook == 1;
        for (change = CLOSE; change < CHANGES; change++) changes(&onces[hook][change]);
    }
    return finish();
}
