/* Two threads that hand in requests for as long as the once is not ready. */
#ifndef PRODUCERS_H
#define PRODUCERS_H
#include "requests.h"

static const lazy_config producers_config = { .size = sizeof(lazy_config), .name = "busy",
                                              .contended = LAZY_CONTENDED_QUEUE };
static lazy_once onces[3] = { LAZY_ONCE_WITH(&producers_config), LAZY_ONCE_WITH(&producers_config),
                              LAZY_ONCE_WITH(&producers_config) };
static lazy_once *busy;
static long taken, ran, refused;
static int no_wait_producers, started, seeded;
static gate begun;

static void pause_now_and_then(long turn) {
    if (turn % 16 == 0) sched_yield();
}
/* Whether every producer has noticed that the drain is closing: refused, or asleep in its call. */
static int cut_off(void) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(busy, &info), LAZY_OK);
    return (int)info.waiters == 2 - no_wait_producers && (no_wait_producers == 0 || COUNT(refused) > 0);
}
/* Returns only when another request of the producers is in the queue, or none can come any more. */
static int32_t never_the_last(void *ctx) {
    (void)ctx;
    ADD(ran, 1);
    for (long turn = 0; COUNT(taken) <= COUNT(ran) && !cut_off() && !lazy_once_is_initialized(busy); turn++)
        pause_now_and_then(turn);
    return 0;
}
static int32_t seed(void *ctx) {
    (void)ctx;
    ADD(seeded, 1);
    return 0;
}
static int32_t opens(void *ctx) {
    (void)ctx;
    gate_open(&begun);
    while (COUNT(started) < 2) sched_yield();
    ADD(taken, 1); /* itself */
    return never_the_last(ctx);
}
static void *produces(void *no_wait) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = never_the_last;
    request.flags = no_wait ? LAZY_REQUEST_NO_WAIT : 0;
    gate_wait(&begun);
    ADD(started, 1);
    for (long turn = 1;; turn++) {
        /* Bounds the memory, not the drain: as long as this waits, the queue is not empty. */
        while (COUNT(taken) > COUNT(ran) + 64) pause_now_and_then(turn++);
        lazy_status status = no_wait ? lazy_once_submit(busy, &request, NULL) : lazy_once_call(busy, never_the_last, NULL);
        if (status == LAZY_OK) return NULL; /* ready: it ran here */
        if (status == LAZY_QUEUED) {
            ADD(taken, 1);
        } else {
            CHECK_IS(status, LAZY_E_NOT_NOW);
            CHECK(no_wait != NULL);
            ADD(refused, 1);
            pause_now_and_then(turn);
        }
    }
}
/* `seeds`: what waits in the last phase from the beginning. */
static inline void check_producers(int no_wait, int seeds) {
    pthread_t threads[2];
    lazy_request last = LAZY_REQUEST_INIT;
    busy = &onces[no_wait];
    taken = ran = refused = 0;
    no_wait_producers = no_wait;
    started = seeded = 0;
    begun = (gate)GATE_INIT;
    last.fn = seed;
    last.phase = LAZY_PHASE_LAST;
    for (int i = 0; i < seeds; i++) queue_request(busy, last);
    CHECK_IS(lazy_once_call(busy, opens, NULL), LAZY_QUEUED);
    for (int i = 0; i < 2; i++) threads[i] = start(produces, i < no_wait ? busy : NULL);
    CHECK_IS(lazy_once_init(busy), LAZY_OK);
    CHECK(lazy_once_is_initialized(busy));
    for (int i = 0; i < 2; i++) join(threads[i]);
    CHECK_IS(COUNT(ran), COUNT(taken) + 2); /* and each producer's last, at once */
    CHECK(COUNT(taken) > 1);
    CHECK_IS(COUNT(seeded), seeds);
}
#endif
