// Guards against a prepare that recurses or waits for itself: from inside it init neither prepares again nor waits, it
// owns the attempt and initializes; run likewise, with its own initializer; a call is queued; and the outer call finds
// it done. Where the attempt made inside fails, the outer call still decides for itself.
#include "callers.h"

enum { NO_ATTEMPT, INIT_INSIDE, RUN_INSIDE, INIT_FAILS_INSIDE, WAYS };
static lazy_once onces[WAYS];
static int way;
static atomic_int prepared, initialized, run_instead, ran, failures_left;

static int32_t prepare(void *ctx) {
    lazy_once *once = (lazy_once *)ctx;
    int depth = atomic_fetch_add(&prepared, 1);
    CHECK_IS(depth, 0);
    CHECK(!lazy_once_is_initializing(once));
    CHECK(!lazy_once_is_initialized(once));
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    CHECK_IS(atomic_load(&ran), 0);
    if (way == INIT_INSIDE) {
        CHECK_IS(lazy_once_init(once), LAZY_OK);
        CHECK_IS(atomic_load(&initialized), 1);
    } else if (way == RUN_INSIDE) {
        CHECK_IS(lazy_once_run(once, count, &run_instead), LAZY_OK);
    } else if (way == INIT_FAILS_INSIDE) {
        CHECK_IS(lazy_once_init(once), LAZY_E_INIT);
        CHECK_IS(lazy_last_error()->attempt, 1);
        CHECK(!lazy_once_is_initializing(once));
    }
    if (way == INIT_INSIDE || way == RUN_INSIDE) {
        CHECK(lazy_once_is_initialized(once));
        CHECK_IS(atomic_load(&ran), 1);
        CHECK_IS(lazy_once_call(once, count, &ran), LAZY_OK);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
    }
    return 0;
}
static int32_t initialize(void *ctx) {
    lazy_once *once = (lazy_once *)ctx;
    CHECK(lazy_once_is_initializing(once));
    CHECK_IS(lazy_once_init(once), LAZY_IN_PROGRESS);
    CHECK_IS(info_of(once).owner_thread, thread_id());
    if (atomic_fetch_sub(&failures_left, 1) > 0) return 9;
    return count(&initialized);
}

int main(void) {
    for (way = NO_ATTEMPT; way < WAYS; way++) {
        lazy_once *once = &onces[way];
        lazy_config config = LAZY_CONFIG_INIT;
        config.name = "prepared";
        config.prepare = prepare;
        config.initialize = initialize;
        config.ctx = once;
        atomic_store(&prepared, 0);
        atomic_store(&initialized, 0);
        atomic_store(&run_instead, 0);
        atomic_store(&ran, 0);
        atomic_store(&failures_left, way == INIT_FAILS_INSIDE);
        CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
        CHECK(lazy_once_is_initialized(once));
        CHECK(!lazy_once_is_initializing(once));
        CHECK_IS(atomic_load(&prepared), 1);
        CHECK_IS(atomic_load(&initialized), way != RUN_INSIDE);
        CHECK_IS(atomic_load(&run_instead), way == RUN_INSIDE);
        CHECK_IS(atomic_load(&ran), way == INIT_INSIDE || way == RUN_INSIDE ? 2 : 1);
        CHECK_IS(info_of(once).attempts, way == INIT_FAILS_INSIDE ? 2 : 1);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
    }
    return finish();
}
