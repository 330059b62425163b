// Guards against a false alarm: an edge ends when the awaited attempt ends, not when its waiter wakes up. Two threads start
// two onces that need each other's *previous* attempt many times over; nobody is ever refused where no circle stands.
#include "check.h"
#include <stdatomic.h>

static lazy_once shared;
static atomic_int stop;
static int32_t trivial(void *ctx) {
    (void)ctx;
    return 0;
}
static int32_t uses_shared(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_run(&shared, trivial, NULL), LAZY_OK);
    return 0;
}
static void *worker(void *ctx) {
    pthread_barrier_t *barrier = (pthread_barrier_t *)ctx;
    for (;;) {
        lazy_once own = LAZY_ONCE_INIT;
        pthread_barrier_wait(barrier);
        if (atomic_load(&stop)) return NULL;
        CHECK_IS(lazy_once_run(&own, uses_shared, NULL), LAZY_OK);
        pthread_barrier_wait(barrier);
    }
}

int main(void) {
    pthread_barrier_t barrier;
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 2; i++) threads[i] = start(worker, &barrier);
    for (long i = rounds(20000); i > 0; i--) {
        shared = (lazy_once)LAZY_ONCE_INIT;
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    atomic_store(&stop, 1);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++) join(threads[i]);
    return finish();
}
