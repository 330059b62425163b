// Guards against a gate that lets a second thread return from lazy_init, or see is_initialized, while the initializer or
// a queued callback still has something to write: whoever is told "ready" must find all of it.
#include "check.h"
#include <stdatomic.h>

enum { THREADS = 4 };
static atomic_int effects[8]; /* relaxed: the order must come from the gate, not from these */
static lazy_once *once;
static pthread_barrier_t line;
static long total;

static int32_t write_part(void *first) {
    for (int i = 0; i < 4; ++i) {
        atomic_store_explicit((atomic_int *)first + i, 1, memory_order_relaxed);
        sched_yield(); /* lets the others look at the half of it */
    }
    return 0;
}
static const lazy_config config = { sizeof(lazy_config), "effects", write_part, effects, 0, 0, 0, 0, 0, 0, 0, 0 };

static void check_effects(void) {
    for (int i = 0; i < 8; ++i) CHECK_IS(atomic_load_explicit(&effects[i], memory_order_relaxed), 1);
}
static int32_t nothing(void *ctx) {
    (void)ctx;
    return 0;
}
static void *participant(void *number) {
    for (long round = 0; round < total; ++round) {
        pthread_barrier_wait(&line);
        switch ((intptr_t)number % 4) {
        case 0: case 1:
            CHECK_IS(lazy_once_init(once), LAZY_OK);
            break;
        case 2: /* may still find it fresh and queue */
            while (lazy_once_call(once, nothing, NULL) != LAZY_OK) sched_yield();
            break;
        default:
            while (!lazy_once_is_initialized(once)) sched_yield();
        }
        check_effects();
        pthread_barrier_wait(&line);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    total = rounds(3000);
    pthread_barrier_init(&line, NULL, THREADS + 1);
    for (intptr_t i = 0; i < THREADS; ++i) threads[i] = start(participant, (void *)i);
    for (long round = 0; round < total; ++round) {
        lazy_once next = LAZY_ONCE_WITH(&config);
        once = &next;
        for (int i = 0; i < 8; ++i) atomic_store(&effects[i], 0);
        CHECK_IS(lazy_once_call(once, write_part, effects + 4), LAZY_QUEUED);
        pthread_barrier_wait(&line);
        pthread_barrier_wait(&line);
    }
    for (int i = 0; i < THREADS; ++i) join(threads[i]);
    return finish();
}
