// Guards against an order of the host lock and the guard that suits only some callers: two threads, each with or without
// the lock, and an initializer and a queued callback that let the lock go and take it back; then sixteen, mixed, all at
// once. It is initialized once, attached, and each caller has the lock as deep as before.
#include "big_lock.h"
#include "callers.h"

enum { MIXED = 16 };
static big_lock lock;
static lazy_once once;
static int initialized, drained, ran, round_number;
static pthread_barrier_t together;

static int32_t initialize(void *ctx) {
    (void)ctx;
    ADD(initialized, 1);
    CHECK(*big_depth(&lock) > 0);
    for (int i = 0; i < 5; i++) big_yield(&lock);
    return 0;
}
static int32_t queued(void *ctx) {
    (void)ctx;
    ADD(drained, 1);
    CHECK(*big_depth(&lock) > 0);
    for (int i = 0; i < 5; i++) big_yield(&lock);
    return 0;
}
static int32_t at_once(void *ctx) {
    (void)ctx;
    ADD(ran, 1);
    return 0;
}
static lazy_status enter(int me) {
    switch (me % 4) {
    case 0: return lazy_once_init(&once);
    case 1: return lazy_once_run(&once, initialize, NULL);
    case 2: return lazy_once_init_timeout(&once, UINT64_MAX);
    default: return LAZY_CALL(&once, at_once, NULL);
    }
}
static void *enters(void *number) {
    int me = (int)(intptr_t)number, depth = me & 1 ? 1 + me / 2 % 2 : 0;
    for (int i = 0; i < depth; i++) big_take(&lock);
    if (depth) { /* the others get as far */
        int all = big_let_go(&lock);
        pthread_barrier_wait(&together);
        big_take_back(&lock, all);
    } else {
        pthread_barrier_wait(&together);
    }
    lazy_status status = enter(me / 2 + COUNT(round_number));
    CHECK(status == LAZY_OK || status == LAZY_QUEUED);
    CHECK_DEPTH(&lock, depth);
    for (int i = 0; i < depth; i++) big_give(&lock);
    return NULL;
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "mixed", .initialize = initialize, .host = &lock.host };

static void all_enter(int threads, const int *numbers) {
    pthread_t started[MIXED];
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    SET(initialized, 0);
    SET(drained, 0);
    CHECK_IS(lazy_once_call(&once, queued, NULL), LAZY_QUEUED);
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    for (intptr_t i = 0; i < threads; i++) started[i] = start(enters, (void *)(intptr_t)(numbers ? numbers[i] : i));
    for (int i = 0; i < threads; i++) join(started[i]);
    CHECK_IS(lazy_once_init(&once), LAZY_OK); /* if only callers that queue came */
    CHECK_DEPTH(&lock, 0);
    CHECK_IS(COUNT(initialized), 1);
    CHECK_IS(COUNT(drained), 1);
    pthread_barrier_destroy(&together);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    static const int pairs[4][2] = { { 0, 8 }, { 0, 9 }, { 1, 8 }, { 1, 9 } };
    big_begin(&lock, 0, "mixed");
    for (long i = rounds(400); i > 0; i--) {
        SET(round_number, (int)i);
        for (int pair = 0; pair < 4; pair++) all_enter(2, pairs[pair]);
        all_enter(MIXED, NULL);
    }
    return finish();
}
