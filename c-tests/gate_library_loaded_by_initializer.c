// shared: load_hook.c
// flags: -rdynamic
// Guards against a hang, or a second start, where the initializer itself loads the library: its constructor is on the
// initializing thread, so its call is queued, its init is LAZY_IN_PROGRESS, and the drain runs the call before READY,
// also while others wait.
#include "callers.h"
#include <dlfcn.h>

static hold loading = HOLD_INIT;
static atomic_int constructed, initialized, ran;
static void *handle;

static int32_t initialize(void *ctx) {
    handle = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    CHECK_IS(atomic_load(&constructed), 1);
    CHECK_IS(atomic_load(&ran), 0);
    (void)ctx;
    return count(&initialized);
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "loading", .initialize = initialize };
static lazy_once once = LAZY_ONCE_WITH(&config);

void library_is_loaded(void);
void library_is_loaded(void) {
    atomic_fetch_add(&constructed, 1);
    held(&loading);
    CHECK(lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_run(&once, never, NULL), LAZY_IN_PROGRESS);
    CHECK_IS(atomic_load(&ran), 0);
}
static lazy_status in_counting_call(void *ctx) {
    (void)ctx;
    return lazy_once_call(&once, count, &ran);
}

int main(void) {
    caller owner, waiters[4];
    CHECK(getenv("LAZYONCE_TEST_SHARED") != NULL);
    begin(&owner, in_init, &once);
    gate_wait(&loading.inside);
    for (int i = 0; i < 4; i++) begin(&waiters[i], i % 2 ? in_counting_call : in_init, &once);
    for (int i = 0; i < 4; i++) until_waiting(&waiters[i]);
    gate_open(&loading.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    for (int i = 0; i < 4; i++) CHECK_IS(ended(&waiters[i]), LAZY_OK);
    CHECK_IS(atomic_load(&constructed), 1);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&ran), 3);
    CHECK_IS(dlclose(handle), 0);
    return finish();
}
