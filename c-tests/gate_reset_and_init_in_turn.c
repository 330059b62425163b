// Guards against an init that finds what an earlier generation left behind: two threads reset and initialize in turn,
// and after each reset an init returns only when an initializer has run since. No two attempts overlap, every reset
// counts once, and no call is lost between a reset and the next attempt.
#include "callers.h"

static atomic_int inside, starts, finishes, resets, calls, ran;
static long total;

static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_IS(atomic_exchange_explicit(&inside, 1, memory_order_relaxed), 0);
    atomic_fetch_add_explicit(&starts, 1, memory_order_relaxed);
    if (atomic_load(&starts) % 3 == 0) sched_yield();
    atomic_fetch_add_explicit(&finishes, 1, memory_order_relaxed);
    CHECK_IS(atomic_exchange_explicit(&inside, 0, memory_order_relaxed), 1);
    return 0;
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "restarted", .initialize = initialize };
static lazy_once once = LAZY_ONCE_WITH(&config);

static void *resetting(void *number) {
    for (long i = 0; i < total; i++) {
        int before = atomic_load_explicit(&finishes, memory_order_relaxed);
        CHECK_IS(lazy_once_reset(&once), LAZY_OK);
        atomic_fetch_add(&resets, 1);
        if ((i + (intptr_t)number) % 4 == 0) {
            lazy_status status = lazy_once_call(&once, count, &ran);
            CHECK(status == LAZY_OK || status == LAZY_QUEUED);
            atomic_fetch_add(&calls, 1);
        }
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK(atomic_load_explicit(&finishes, memory_order_relaxed) > before);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    total = rounds(50000);
    for (intptr_t i = 0; i < 2; i++) threads[i] = start(resetting, (void *)i);
    for (int i = 0; i < 2; i++) join(threads[i]);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(info_of(&once).generation, atomic_load(&resets));
    CHECK_IS(info_of(&once).attempts, atomic_load(&starts));
    CHECK_IS(info_of(&once).queued, 0);
    CHECK_IS(atomic_load(&ran), atomic_load(&calls));
    return finish();
}
