// Guards against a lock that the caller holds deeper, or no more, after a call than before: by success, failure, a limit, a
// refusal, and an exception out of the initializer, a queued request, one run at once, prepare and can_init, entered with
// the lock not held, held, and held twice. Another thread can have the lock then, and the once works on.
#include "big_lock.h"

struct refused { int code; };
static big_lock lock;
static lazy_once once;
static int throws_in; /* where */
enum { NOWHERE, PREPARE, CAN_INIT, INITIALIZE, QUEUED, AT_ONCE, PLACES };

static int32_t maybe_throw(int place, bool attached, int32_t result = 0) {
    if (attached) CHECK(*big_depth(&lock) > 0);
    if (COUNT(throws_in) == place) {
        SET(throws_in, NOWHERE);
        throw refused{place};
    }
    return result;
}
static int32_t prepare(void *) { return maybe_throw(PREPARE, false); }
static int32_t can_init(void *) { return maybe_throw(CAN_INIT, true); }
static int32_t initialize(void *result) {
    big_yield(&lock);
    return maybe_throw(INITIALIZE, true, result ? 7 : 0);
}
static int32_t queued(void *) {
    big_yield(&lock);
    return maybe_throw(QUEUED, true);
}
static int32_t at_once(void *) {
    big_yield(&lock);
    return maybe_throw(AT_ONCE, true);
}
static int32_t reenters(void *) {
    throws_in = AT_ONCE;
    int depth = *big_depth(&lock), code = 0;
    try {
        LAZY_CALL_HELD(&once, at_once, nullptr);
    } catch (const refused &error) {
        code = error.code;
    }
    CHECK_IS(code, AT_ONCE);
    CHECK_DEPTH(&lock, depth);
    return 0;
}
static void *takes_it(void *) {
    big_take(&lock);
    big_give(&lock);
    return nullptr;
}
static lazy_config config() {
    lazy_config all = LAZY_CONFIG_INIT;
    all.prepare = prepare;
    all.can_init = can_init;
    all.initialize = initialize;
    all.host = &lock.host;
    return all;
}
static int32_t closes(void *) {
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return 0;
}
template <typename F> static void unchanged(int depth, F call) {
    call();
    CHECK_DEPTH(&lock, depth);
    CHECK(!lazy_once_is_initializing(&once));
    int all = depth ? big_let_go(&lock) : 0;
    join(start(takes_it, nullptr));
    if (all) big_take_back(&lock, all);
}
template <typename F> static void throwing(int depth, int place, F call) {
    unchanged(depth, [&] {
        int code = 0;
        throws_in = place;
        try {
            call();
        } catch (const refused &error) {
            code = error.code;
        }
        CHECK_IS(code, place);
    });
}
static void all_paths(int depth) {
    lazy_config all = config(), fails = config();
    once = LAZY_ONCE_WITH(&all);
    CHECK_IS(lazy_once_call(&once, queued, nullptr), LAZY_QUEUED);
    for (int place = PREPARE; place <= QUEUED; place++) throwing(depth, place, [] { lazy_once_init(&once); });
    CHECK_IS(lazy_once_call(&once, reenters, nullptr), LAZY_QUEUED);
    lock.refuses = 1;
    unchanged(depth, [] { CHECK_IS(lazy_once_init(&once), LAZY_E_HOST); });
    lock.refuses = 0;
    unchanged(depth, [] { CHECK_IS(lazy_once_init(&once), LAZY_OK); });
    throwing(depth, AT_ONCE, [] { LAZY_CALL_HELD(&once, at_once, nullptr); });
    unchanged(depth, [] { CHECK_IS(LAZY_CALL_HELD(&once, at_once, nullptr), LAZY_OK); });
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    unchanged(depth, [] { CHECK_IS(lazy_once_init(&once), LAZY_E_CLOSED); });

    fails.ctx = &fails;
    once = LAZY_ONCE_WITH(&fails);
    unchanged(depth, [] { CHECK_IS(lazy_once_init(&once), LAZY_E_INIT); });
    unchanged(depth, [] { CHECK_IS(lazy_once_run(&once, closes, nullptr), LAZY_E_CLOSED); });
}

int main() {
    big_begin(&lock, 0, "lock");
    for (int depth = 0; depth < 3; depth++) {
        all_paths(depth);
        big_take(&lock);
    }
    return finish();
}
