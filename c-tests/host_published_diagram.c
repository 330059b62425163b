// Guards against the published hang: A, inside the guard, has let the host lock go; B, which holds it, arrives; then A asks
// for it back. B has let it go to wait, so A gets it and finishes, and B is back with the lock as deep as it had it. B comes
// by init, run, call and submit, and A with and without the lock.
#include "big_lock.h"
#include "callers.h"

enum { WAYS = 4 };
static big_lock lock;
static lazy_once once;
static lazy_config config = LAZY_CONFIG_INIT;
static caller b;
static int way, initialized, ran;
static gate a_let_go, b_holds;

static int32_t ran_by_b(void *ctx) {
    (void)ctx;
    ADD(ran, 1);
    CHECK_DEPTH(&lock, 2);
    return 0;
}
static lazy_status in_b(void *ctx) {
    lazy_status status;
    (void)ctx;
    gate_wait(&a_let_go);
    big_take(&lock);
    big_take(&lock);
    gate_open(&b_holds);
    switch (way) {
    case 0: status = lazy_once_init(&once); break;
    case 1: status = lazy_once_run(&once, never, NULL); break;
    case 2: status = lazy_once_call(&once, ran_by_b, NULL); break;
    default: status = LAZY_CALL(&once, ran_by_b, NULL);
    }
    CHECK_DEPTH(&lock, 2);
    big_give(&lock);
    big_give(&lock);
    return status;
}
static int32_t initialize(void *holds) {
    CHECK_DEPTH(&lock, holds ? 2 : 1);
    int depth = big_let_go(&lock);
    gate_open(&a_let_go);
    gate_wait(&b_holds);
    big_until_parked(&lock, 1);
    until_waiting(&b);
    big_take_back(&lock, depth);
    ADD(initialized, 1);
    return 0;
}

int main(void) {
    big_begin(&lock, 0, "the big lock");
    config.initialize = initialize;
    config.host = &lock.host;
    for (int round = 0; round < 2 * WAYS; round++) {
        bool holds = round % 2;
        way = round / 2;
        ran = initialized = 0;
        a_let_go = b_holds = (gate)GATE_INIT;
        big_reset(&lock);
        config.ctx = holds ? &lock : NULL;
        once = (lazy_once)LAZY_ONCE_WITH(&config);
        begin(&b, in_b, NULL);
        if (holds) big_take(&lock);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_DEPTH(&lock, holds);
        if (holds) big_give(&lock);
        CHECK_IS(ended(&b), LAZY_OK);
        CHECK_IS(COUNT(initialized), 1);
        CHECK_IS(COUNT(ran), way >= 2);
        CHECK_HOOKS(&lock, 2, 1);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    return finish();
}
