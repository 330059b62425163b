// shared: load_hook.c
// flags: -rdynamic
// Guards against an ABBA hang of the loader's lock and the gate: one thread loads a library, and its constructor uses
// the once, while another thread's initializer waits for the loader's lock. Loaded by prepare, the constructor's init
// is LAZY_IN_PROGRESS and its call is queued; loaded elsewhere, NO_WAIT is queued as well; either way both threads
// finish.
#include "callers.h"
#include <dlfcn.h>

static hold in_constructor = HOLD_INIT;
static atomic_int prepared, initialized, ran, loader;
static lazy_once *once;
static bool by_prepare;

static void load(void) {
    void *handle = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    CHECK_IS(dlclose(handle), 0);
}
static int32_t prepare(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&prepared, 1) == 0 && by_prepare) load();
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_store(&loader, thread_id());
    load();
    return count(&initialized);
}
void library_is_loaded(void);
void library_is_loaded(void) {
    if (atomic_load(&in_constructor.runs)) return; /* loaded again by the initializer */
    held(&in_constructor);
    CHECK(!lazy_once_is_initialized(once));
    if (by_prepare) {
        CHECK_IS(lazy_once_init(once), LAZY_IN_PROGRESS);
        CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    } else {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = count;
        request.ctx = &ran;
        request.flags = LAZY_REQUEST_NO_WAIT;
        CHECK_IS(lazy_once_submit(once, &request, NULL), LAZY_QUEUED);
    }
}
static lazy_status loads_outside(void *ctx) {
    (void)ctx;
    load();
    return lazy_once_init(once);
}

int main(void) {
    static lazy_once onces[2];
    CHECK(getenv("LAZYONCE_TEST_SHARED") != NULL);
    for (int round = 0; round < 2; round++) {
        lazy_config config = LAZY_CONFIG_INIT;
        caller loading, owner;
        const hold closed = HOLD_INIT;
        in_constructor = closed;
        by_prepare = round == 0;
        once = &onces[round];
        atomic_store(&prepared, 0);
        atomic_store(&loader, 0);
        config.name = "loading";
        config.prepare = prepare;
        config.initialize = initialize;
        CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
        begin(&loading, by_prepare ? in_init : loads_outside, once);
        gate_wait(&in_constructor.inside);
        begin(&owner, in_init, once);
        while (!atomic_load(&loader)) sched_yield();
        until_asleep(atomic_load(&loader)); /* in the loader's lock */
        gate_open(&in_constructor.go);
        CHECK_IS(ended(&owner), LAZY_OK);
        CHECK_IS(ended(&loading), LAZY_OK);
        CHECK_IS(atomic_load(&initialized), round + 1);
        CHECK_IS(atomic_load(&ran), round + 1);
    }
    return finish();
}
