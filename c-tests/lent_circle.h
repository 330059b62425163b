/* Two onces that need each other, the first with workers under its permit. Four parts: A and B are the initializing threads,
   W and V the workers of `a`. A, W and V wait for `b`, and B for `a`, without a limit, unless a part does something else.
   For C11. */
#ifndef LENT_CIRCLE_H
#define LENT_CIRCLE_H
#include "waiters.h"

enum { A, B, W, V, PARTS, ANY_STATUS = 2000 };
struct part {
    bool plays;
    int after;          /* bits: those that must sleep before this one waits */
    lazy_status wanted; /* of its wait */
    bool closes_b;      /* when it is refused: while it holds the permit, a may still be ended by it */
    void (*does)(void); /* in place of the wait */
};
static const struct part *parts;
static lazy_once a, b;
static lazy_permit a_permit;
static atomic_int ids[PARTS], alarms, entered;
static gate a_owned, b_owned;
static pthread_t threads[PARTS];
static pthread_barrier_t *together; /* if they are to race */
static lazy_status (*needs)(lazy_once *once) = wait_in_init;

/* Returns when that thread sleeps; it says who it is just before it waits. */
static inline void sleeps(int part) {
    while (!atomic_load(&ids[part])) sched_yield();
    until_asleep(atomic_load(&ids[part]));
}
static inline void alarm_names_everybody(void) {
    const lazy_error *error = lazy_last_error();
    CHECK_HAS(error->message, "\"a\"");
    CHECK_HAS(error->message, "\"b\"");
    for (int i = 0; i < PARTS; i++) {
        char thread[32];
        snprintf(thread, sizeof thread, "thread %d", atomic_load(&ids[i]));
        if (parts[i].plays) CHECK_HAS(error->message, thread);
    }
}
static inline void play(int me) {
    const struct part *part = &parts[me];
    for (int i = 0; i < PARTS; i++)
        if (part->after >> i & 1) sleeps(i);
    atomic_store(&ids[me], thread_id());
    if (part->does) {
        part->does();
        return;
    }
    if (together) pthread_barrier_wait(together);
    lazy_status status = needs(me == B ? &a : &b);
    if (status == LAZY_E_DEADLOCK) {
        atomic_fetch_add(&alarms, 1);
        alarm_names_everybody();
        if (part->closes_b) CHECK_IS(lazy_once_close(&b), LAZY_OK);
    }
    if (part->wanted != ANY_STATUS) CHECK_IS(status, part->wanted);
}
static inline void *lent_worker(void *me) {
    CHECK_IS(lazy_permit_enter(&a_permit), LAZY_OK);
    atomic_fetch_add(&entered, 1);
    play((int)(intptr_t)me);
    CHECK_IS(lazy_permit_leave(&a_permit), LAZY_OK);
    return NULL;
}
static inline int32_t initialize_a(void *ctx) {
    (void)ctx;
    int all = 0;
    CHECK_IS(lazy_permit_capture(&a, &a_permit), LAZY_OK);
    for (intptr_t i = W; i <= V; i++)
        if (parts[i].plays) threads[i] = start(lent_worker, (void *)i), ++all;
    while (atomic_load(&entered) < all) sched_yield();
    gate_open(&a_owned);
    play(A); /* workers are not joined: they may wait for what waits for this attempt */
    return 0;
}
static inline int32_t initialize_b(void *ctx) {
    (void)ctx;
    gate_open(&b_owned);
    gate_wait(&a_owned);
    play(B);
    return 0;
}
static inline void *start_once(void *once) {
    lazy_status status = lazy_once_init((lazy_once *)once);
    CHECK(status == LAZY_OK || (once == &b && status == LAZY_E_CLOSED));
    return NULL;
}
/* Everybody plays; gives the number of refusals. */
static inline int play_all(const struct part all[PARTS]) {
    static const lazy_config config_a = { .size = sizeof(lazy_config), .name = "a", .initialize = initialize_a };
    static const lazy_config config_b = { .size = sizeof(lazy_config), .name = "b", .initialize = initialize_b };
    parts = all;
    a = (lazy_once)LAZY_ONCE_WITH(&config_a);
    b = (lazy_once)LAZY_ONCE_WITH(&config_b);
    a_owned = b_owned = (gate)GATE_INIT;
    atomic_store(&alarms, 0);
    atomic_store(&entered, 0);
    for (int i = 0; i < PARTS; i++) atomic_store(&ids[i], 0);
    threads[B] = start(start_once, &b);
    gate_wait(&b_owned);
    threads[A] = start(start_once, &a);
    join(threads[A]); /* after which it is known which workers there are */
    join(threads[B]);
    for (int i = W; i < PARTS; i++)
        if (parts[i].plays) join(threads[i]);
    CHECK_IS(lazy_once_close(&a), LAZY_OK);
    CHECK_IS(lazy_once_close(&b), LAZY_OK);
    return atomic_load(&alarms);
}
#endif
