// shared: load_hook.c
// flags: -rdynamic
// Guards against a library whose constructor starts the backend that is loading it: loaded by prepare, the constructor
// queues a call and initializes; the gate is open, so it owns the attempt, inside the loader, and the outer call finds
// it done. Nothing is started twice.
#include "callers.h"
#include <dlfcn.h>

static atomic_int prepared, constructed, initialized, ran;
static void *handle;

static int32_t prepare(void *once) {
    CHECK_IS(count(&prepared), 0);
    handle = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    CHECK_IS(atomic_load(&constructed), 1);
    CHECK(lazy_once_is_initialized((lazy_once *)once));
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    return count(&initialized);
}
static lazy_config config = { .size = sizeof(lazy_config), .name = "loading", .prepare = prepare,
                              .initialize = initialize };
static lazy_once once = LAZY_ONCE_WITH(&config);

void library_is_loaded(void);
void library_is_loaded(void) {
    atomic_fetch_add(&constructed, 1);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    CHECK_IS(atomic_load(&ran), 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_OK);
}

int main(void) {
    CHECK(getenv("LAZYONCE_TEST_SHARED") != NULL);
    config.ctx = &once;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&prepared), 1);
    CHECK_IS(atomic_load(&constructed), 1);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&ran), 2);
    CHECK_IS(info_of(&once).attempts, 1);
    CHECK_IS(dlclose(handle), 0);
    return finish();
}
