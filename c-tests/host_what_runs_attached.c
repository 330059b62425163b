// Guards against a callback that has the host lock where it must not, or lacks it where it must: prepare runs before the host
// is asked, with the lock as the caller has it; can_init, the initializer and every drained request have it; a request run
// at once, inside the drain, on READY or after a wait, has it as its caller has it then.
#include "big_lock.h"
#include "callers.h"

static big_lock lock;
static lazy_once once;
static int callers_depth, prepared, asked, drained, at_once;
static hold start_up = HOLD_INIT;

static int32_t prepare(void *ctx) {
    (void)ctx;
    CHECK_HOOKS(&lock, 0, 0);
    CHECK_DEPTH(&lock, callers_depth);
    ADD(prepared, 1);
    return 0;
}
static int32_t can_init(void *ctx) {
    (void)ctx;
    CHECK_HOOKS(&lock, 1, 0);
    CHECK_DEPTH(&lock, callers_depth + 1);
    return ADD(asked, 1) == 0 ? lazy_fail(4, "not before lunch") : 0;
}
static int32_t runs_at_once(void *depth) {
    CHECK_DEPTH(&lock, (int)(intptr_t)depth);
    ADD(at_once, 1);
    return 0;
}
static int32_t drains(void *ctx) {
    (void)ctx;
    CHECK_DEPTH(&lock, callers_depth + 1);
    CHECK_IS(lazy_once_call(&once, runs_at_once, (void *)(intptr_t)(callers_depth + 1)), LAZY_OK);
    int depth = big_let_go(&lock);
    CHECK_IS(lazy_once_call(&once, runs_at_once, NULL), LAZY_OK);
    big_take_back(&lock, depth);
    ADD(drained, 1);
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_DEPTH(&lock, callers_depth + 1);
    big_yield(&lock);
    CHECK_IS(lazy_once_call(&once, drains, NULL), LAZY_QUEUED);
    return 0;
}
static int32_t slow(void *ctx) {
    int depth = big_let_go(&lock);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}
static lazy_status calls_and_waits(void *depth) {
    for (intptr_t i = 0; i < (intptr_t)depth; i++) big_take(&lock);
    lazy_status status = lazy_once_call(&once, runs_at_once, depth);
    while (*big_depth(&lock)) big_give(&lock);
    return status;
}

int main(void) {
    lazy_config config = { .size = sizeof config, .initialize = initialize, .prepare = prepare, .can_init = can_init,
                           .host = &lock.host };
    big_begin(&lock, 0, "lock");
    for (; callers_depth < 3; callers_depth++) {
        once = (lazy_once)LAZY_ONCE_WITH(&config);
        asked = drained = at_once = prepared = 0;
        CHECK_IS(lazy_once_call(&once, drains, NULL), LAZY_QUEUED);
        CHECK_IS(LAZY_CALL_HELD(&once, drains, NULL), LAZY_QUEUED);
        big_reset(&lock);
        CHECK_IS(lazy_once_init(&once), LAZY_E_NOT_NOW);
        CHECK_IS(lazy_last_error()->code, 4);
        CHECK_DEPTH(&lock, callers_depth);
        big_reset(&lock);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_HOOKS(&lock, 1, 0);
        CHECK_IS(prepared, 2);
        CHECK_IS(asked, 2);
        CHECK_IS(drained, 3);
        CHECK_IS(at_once, 6);
        CHECK_IS(lazy_once_call(&once, runs_at_once, (void *)(intptr_t)callers_depth), LAZY_OK);
        CHECK_DEPTH(&lock, callers_depth);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        big_take(&lock);
    }
    while (*big_depth(&lock)) big_give(&lock);

    caller owner, waiters[3];
    config = (lazy_config){ .size = sizeof config, .initialize = slow, .ctx = &start_up, .host = &lock.host };
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    at_once = 0;
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    for (intptr_t i = 0; i < 3; i++) {
        begin(&waiters[i], calls_and_waits, (void *)i);
        until_waiting(&waiters[i]);
    }
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    for (int i = 0; i < 3; i++) CHECK_IS(ended(&waiters[i]), LAZY_OK);
    CHECK_IS(COUNT(at_once), 3);
    return finish();
}
