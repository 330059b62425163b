// Guards against an error that later attempts overwrite or free: the record that eight threads got of one failed
// attempt, its texts, sites and cause included, stays as it was while thousands of attempts fail, after the thread that
// failed has ended, after the once was closed and while others throw away what they shared.
#include "callers.h"

enum { READERS = 8 };
static hold start_up = HOLD_INIT;
static atomic_int attempts, first_read, leaves = -1, ids[READERS];
static pthread_barrier_t all_have_it;
static lazy_once once = LAZY_ONCE_INIT, inner = LAZY_ONCE_INIT;

static int32_t inner_fails(void *ctx) {
    (void)ctx;
    return lazy_fail(11, "the cable is out");
}
static int32_t initialize(void *ctx) {
    int number = atomic_fetch_add(&attempts, 1) + 1;
    char text[64];
    if (number == 1) held(ctx);
    CHECK_IS(lazy_once_run(&inner, inner_fails, NULL), LAZY_E_INIT);
    snprintf(text, sizeof text, "attempt number %d found no device", number);
    return lazy_fail(1000 + number, text);
}
static void check_first(const lazy_error *error) {
    CHECK_IS(error->status, LAZY_E_INIT);
    CHECK_IS(error->code, 1001);
    CHECK_IS(error->attempt, 1);
    CHECK_HAS(error->message, "attempt number 1 found no device");
    CHECK(!strcmp(error->once, "unlucky"));
    CHECK_HAS(error->init_site.file, "gate_error_stays_readable.c");
    CHECK(!strcmp(error->init_site.function, "reading"));
    CHECK(error->cause != NULL);
    CHECK_IS(error->cause->code, 11);
    CHECK_HAS(error->cause->message, "the cable is out");
    CHECK(error->cause->cause == NULL);
}
/* The threads leave one after the other, and each finds the record whole that it shares with those who left. */
static void *reading(void *id) {
    atomic_store((atomic_int *)id, thread_id());
    CHECK_IS(LAZY_INIT(&once), LAZY_E_INIT);
    const lazy_error *error = lazy_last_error();
    check_first(error);
    pthread_barrier_wait(&all_have_it);
    do {
        check_first(error);
        CHECK(lazy_last_error() == error);
        CHECK(!lazy_once_is_initialized(&once));
        atomic_fetch_add(&first_read, 1);
        sched_yield();
    } while (atomic_load(&leaves) < (atomic_int *)id - ids);
    CHECK_IS(lazy_once_init(&once), LAZY_E_CLOSED); /* throws it away */
    CHECK_IS(lazy_last_error()->status, LAZY_E_CLOSED);
    return NULL;
}

int main(void) {
    pthread_t readers[READERS];
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "unlucky";
    config.initialize = initialize;
    config.ctx = &start_up;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    pthread_barrier_init(&all_have_it, NULL, READERS + 1);
    for (int i = 0; i < READERS; i++) {
        readers[i] = start(reading, &ids[i]);
        if (i == 0) gate_wait(&start_up.inside);
    }
    for (int i = 1; i < READERS; i++) {
        while (!atomic_load(&ids[i])) sched_yield();
        until_asleep(atomic_load(&ids[i]));
    }
    gate_open(&start_up.go);
    pthread_barrier_wait(&all_have_it);
    for (long i = rounds(5000); i > 0; i--) {
        CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
        CHECK_IS(lazy_last_error()->code, 1000 + (int)lazy_last_error()->attempt);
        CHECK_IS(lazy_last_error()->cause->code, 11);
    }
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    for (int i = 0; i < READERS; i++) {
        int seen = atomic_load(&first_read);
        while (atomic_load(&first_read) < seen + 2 * READERS) sched_yield();
        atomic_store(&leaves, i);
        join(readers[i]);
    }
    return finish();
}
