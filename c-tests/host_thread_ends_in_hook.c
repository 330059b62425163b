// flags: -fexceptions
// Guards against a gate that stays owned, or a lock that stays held, by a thread that the host ended inside its hook, before
// it called back: as it was to initialize, to wait, and to run a request with the lock held. Nothing was owned or lost, and
// the next thread succeeds.
#include "big_lock.h"
#include "callers.h"

static big_lock lock;
static lazy_once once;
static hold start_up;
static job mine;
static lazy_request request;

static int32_t initialize(void *ctx) {
    int depth = big_let_go(&lock);
    int32_t result = held(ctx);
    big_take_back(&lock, depth);
    return result;
}
static void *inits(void *ctx) {
    (void)ctx;
    lazy_once_init(&once);
    return &once;
}
static void *submits(void *ctx) {
    (void)ctx;
    lazy_once_submit(&once, &request, NULL);
    return &once;
}
static void ends(void *(*body)(void *)) {
    SET(lock.ends_thread, 1);
    CHECK(join(start(body, NULL)) == NULL);
    SET(lock.ends_thread, 0);
    big_take(&lock); /* it can be had */
    big_give(&lock);
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner;
    big_begin(&lock, 0, "ends threads");
    config.initialize = initialize;
    config.ctx = &start_up;
    config.host = &lock.host;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    start_up = (hold)HOLD_INIT;
    request = request_for(&mine);
    request.flags = LAZY_REQUEST_HOLD_HOST;

    ends(inits);
    CHECK_IS(info_of(&once).phase, LAZY_FRESH);
    CHECK_IS(info_of(&once).attempts, 0);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    ends(inits);
    ends(submits);
    CHECK_JOB(mine, 0, 0);
    CHECK_IS(info_of(&once).waiters, 0);
    CHECK_IS(info_of(&once).queued, 0);
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    ends(submits);
    CHECK_IS(mine.ran, 0);
    CHECK(mine.dropped <= 1);
    mine.dropped = 0;
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_OK);
    CHECK_JOB(mine, 1, 1);
    CHECK_IS(atomic_load(&start_up.runs), 1);
    return finish();
}
