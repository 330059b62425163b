// Guards against a search that follows only one way out of an attempt: the initializing thread of a waits for b and its
// worker for c, whose threads both wait for a. Nobody is refused until the last of them comes, and then one, with all
// three onces and all four threads in the message.
#include "waiters.h"

static lazy_once a, b, c;
static lazy_permit permit;
static gate owned[3] = { GATE_INIT, GATE_INIT, GATE_INIT };
static atomic_int ids[4];

static void sleeps(int who) {
    while (!atomic_load(&ids[who])) sched_yield();
    until_asleep(atomic_load(&ids[who]));
}
static lazy_status needs(lazy_once *once, int who) {
    atomic_store(&ids[who], thread_id());
    return lazy_once_init(once);
}
static void *worker(void *entered) {
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    gate_open((gate *)entered);
    CHECK_IS(needs(&c, 3), LAZY_OK);
    CHECK_IS(lazy_once_close(&b), LAZY_OK); /* the other way round still stands; this thread is free again */
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return NULL;
}
static int32_t initialize_a(void *ctx) {
    (void)ctx;
    gate entered = GATE_INIT;
    CHECK_IS(lazy_permit_capture(&a, &permit), LAZY_OK);
    pthread_t thread = start(worker, &entered);
    gate_wait(&entered);
    gate_open(&owned[0]);
    CHECK_IS(needs(&b, 0), LAZY_E_CLOSED);
    join(thread);
    return 0;
}
static int32_t initialize_b(void *ctx) {
    (void)ctx;
    gate_open(&owned[1]);
    gate_wait(&owned[0]);
    CHECK_IS(needs(&a, 1), LAZY_OK);
    return 0;
}
static int32_t initialize_c(void *ctx) {
    (void)ctx;
    gate_open(&owned[2]);
    for (int i = 0; i < 2; i++) sleeps(i);
    sleeps(3);
    CHECK_IS(needs(&a, 2), LAZY_E_DEADLOCK);
    const char *message = lazy_last_error()->message, *names[] = { "\"a\"", "\"b\"", "\"c\"" };
    for (int i = 0; i < 4; i++) {
        char thread[32];
        snprintf(thread, sizeof thread, "thread %d", atomic_load(&ids[i]));
        CHECK_HAS(message, thread);
        CHECK_HAS(message, names[i % 3]);
    }
    return 0;
}
static const lazy_config configs[] = {
    { .size = sizeof(lazy_config), .name = "a", .initialize = initialize_a },
    { .size = sizeof(lazy_config), .name = "b", .initialize = initialize_b },
    { .size = sizeof(lazy_config), .name = "c", .initialize = initialize_c },
};
static lazy_once a = LAZY_ONCE_WITH(&configs[0]), b = LAZY_ONCE_WITH(&configs[1]), c = LAZY_ONCE_WITH(&configs[2]);

static void *start_b(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&b), LAZY_E_CLOSED);
    return NULL;
}
static void *start_c(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&c), LAZY_OK);
    return NULL;
}

int main(void) {
    pthread_t threads[] = { start(start_b, NULL), start(start_c, NULL) };
    gate_wait(&owned[1]);
    gate_wait(&owned[2]);
    CHECK_IS(lazy_once_init(&a), LAZY_OK);
    for (int i = 0; i < 2; i++) join(threads[i]);
    return finish();
}
