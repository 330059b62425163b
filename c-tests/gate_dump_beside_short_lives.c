// Guards against a dump or an info that reads what another thread frees: while two threads configure, start, queue on,
// reset and close onces of their own, and two more let unconfigured ones end, a third dumps and looks, many times.
#include "callers.h"
#include "dumped.h"

static atomic_int stop;
static lazy_once *always;

static void *closing(void *name) {
    while (!atomic_load(&stop)) {
        lazy_once *once = (lazy_once *)calloc(1, sizeof *once);
        lazy_config config = LAZY_CONFIG_INIT;
        config.name = (const char *)name;
        CHECK(once != NULL);
        CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
        CHECK_IS(lazy_once_call(once, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
        CHECK_IS(lazy_once_reset(once), LAZY_OK);
        CHECK_IS(lazy_once_call(once, never, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_close(once), LAZY_OK);
        memset(once, 0xcd, sizeof *once);
        free(once);
    }
    return NULL;
}
static int32_t fails(void *ctx) {
    (void)ctx;
    return 1;
}
static void *ending(void *ctx) {
    while (!atomic_load(&stop)) {
        lazy_once *once = (lazy_once *)calloc(1, sizeof *once);
        CHECK(once != NULL);
        CHECK_IS(lazy_once_call(once, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_run(once, fails, ctx), LAZY_E_INIT);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
        memset(once, 0xcd, sizeof *once);
        free(once);
    }
    return NULL;
}
static void *looking(void *ctx) {
    (void)ctx;
    while (!atomic_load(&stop)) {
        lazy_info info = info_of(always);
        CHECK(info.phase == LAZY_FRESH || info.phase == LAZY_READY || info.phase == LAZY_INITIALIZING ||
              info.phase == LAZY_DRAINING);
        CHECK(info.queued <= 1);
        CHECK(!strcmp(info.name, "always there"));
    }
    return NULL;
}

int main(void) {
    static char names[2][16] = { "short life one", "short life two" };
    always = lazy_once_named("always there");
    pthread_t threads[5];
    for (int i = 0; i < 2; i++) threads[i] = start(closing, names[i]);
    for (int i = 2; i < 4; i++) threads[i] = start(ending, NULL);
    threads[4] = start(looking, NULL);
    for (long i = rounds(50000) / 25; i > 0; i--) { /* valgrind runs one of the six threads at a time */
        CHECK_IS(lazy_once_call(always, nothing, NULL), LAZY_QUEUED);
        char *text = dumped();
        CHECK_HAS(text, "always there");
        free(text);
        CHECK_IS(lazy_once_init(always), LAZY_OK);
        CHECK_IS(lazy_once_reset(always), LAZY_OK);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 5; i++) join(threads[i]);
    return finish();
}
