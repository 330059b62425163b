// Guards against threads that wait for each other's onces for ever: with two, three and eight onces, each started by a
// thread whose initializer needs the next one, exactly one thread is told LAZY_E_DEADLOCK, with every once of the circle
// in the message, and everybody else finishes. The last thread to arrive is the one that closes the circle.
#include "check.h"
#include <stdatomic.h>

enum { most = 8 };
static lazy_once onces[most];
static lazy_config configs[most];
static char names[most][32];
static gate owned[most], go;
static atomic_int size, refused, waiting[most];
static const char *const hops[] = { "waits for once", "initialized by thread" };

static int32_t needs_next(void *ctx) {
    int mine = (int)(size_t)ctx, n = atomic_load(&size), next = (mine + 1) % n;
    gate_open(&owned[mine]);
    gate_wait(&go);
    atomic_store(&waiting[mine], thread_id());
    lazy_status status = lazy_once_init(&onces[next]);
    if (status == LAZY_E_DEADLOCK) {
        const char *message = lazy_last_error()->message;
        for (int i = 0; i < n; i++) {
            char quoted[40], thread[24];
            snprintf(quoted, sizeof quoted, "\"%.31s\"", names[i]);
            CHECK_HAS(message, quoted);
            snprintf(thread, sizeof thread, "thread %d", atomic_load(&waiting[i]));
            CHECK_HAS(message, thread);
        }
        CHECK_HAS(message, hops[0]);
        CHECK_HAS(message, hops[1]);
        atomic_fetch_add(&refused, 1);
        return 0; /* it can do without */
    }
    CHECK_IS(status, LAZY_OK);
    return 0;
}
static void *initialize(void *ctx) {
    CHECK_IS(lazy_once_init(&onces[(size_t)ctx]), LAZY_OK);
    return NULL;
}

int main(void) {
    static const int sizes[] = { 2, 3, 8 };
    for (int round = 0; round < 3; round++) {
        int n = sizes[round];
        pthread_t threads[most];
        atomic_store(&size, n);
        atomic_store(&refused, 0);
        go = (gate)GATE_INIT;
        for (int i = 0; i < n; i++) {
            owned[i] = (gate)GATE_INIT;
            snprintf(names[i], sizeof names[i], "%d of %d", i, n);
            configs[i] = (lazy_config){ .size = sizeof(lazy_config), .name = names[i], .initialize = needs_next,
                                        .ctx = (void *)(size_t)i };
            onces[i] = (lazy_once)LAZY_ONCE_WITH(&configs[i]);
        }
        for (int i = 0; i < n; i++) threads[i] = start(initialize, (void *)(size_t)i);
        for (int i = 0; i < n; i++) gate_wait(&owned[i]);
        gate_open(&go);
        for (int i = 0; i < n; i++) join(threads[i]);
        CHECK_IS(atomic_load(&refused), 1);
        for (int i = 0; i < n; i++) CHECK(lazy_once_is_initialized(&onces[i]));
    }
    return finish();
}
