// Guards against an initializer that runs twice, a callback that runs never or twice, and a wake-up that is lost, when 64
// threads rush at fresh onces: some initialize, some call, and all go on only when the once is ready.
#include "check.h"
#include <stdatomic.h>

enum { THREADS = 64, ONCES = 2000 };
static atomic_int started[ONCES], ran[ONCES];
static lazy_config configs[ONCES];
static lazy_once onces[ONCES];
static pthread_barrier_t line;
static long total;

static int32_t count(void *counter) {
    atomic_fetch_add_explicit((atomic_int *)counter, 1, memory_order_relaxed);
    return 0;
}
static void *rush(void *number) {
    for (long i = 0; i < total; ++i) {
        if (i % 8 == 0) pthread_barrier_wait(&line); /* all at one once; the following ones as they come */
        if (((intptr_t)number + i) % 2) {
            lazy_status status = lazy_once_call(&onces[i], count, &ran[i]);
            CHECK(status == LAZY_OK || status == LAZY_QUEUED);
        } else {
            CHECK_IS(lazy_once_init(&onces[i]), LAZY_OK);
            CHECK(lazy_once_is_initialized(&onces[i]));
            CHECK_IS(atomic_load_explicit(&started[i], memory_order_relaxed), 1);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    total = rounds(ONCES);
    pthread_barrier_init(&line, NULL, THREADS);
    for (long i = 0; i < total; ++i) {
        const lazy_config config = { sizeof(lazy_config), "stampede", count, &started[i], 0, 0, 0, 0, 0, 0, 0, 0 };
        const lazy_once once = LAZY_ONCE_WITH(&configs[i]);
        configs[i] = config;
        onces[i] = once;
    }
    for (intptr_t i = 0; i < THREADS; ++i) threads[i] = start(rush, (void *)i);
    for (int i = 0; i < THREADS; ++i) join(threads[i]);
    for (long i = 0; i < total; ++i) {
        CHECK_IS(atomic_load(&started[i]), 1);
        CHECK_IS(atomic_load(&ran[i]), THREADS / 2);
    }
    return finish();
}
