/* Threads that wait for a once, each in a call of its own kind; the moment when they sleep, and what they came back with.
   For C11. */
#ifndef WAITERS_H
#define WAITERS_H
#include "check.h"
#include <stdatomic.h>

enum { STILL_WAITING = 1000 }; /* no status */

typedef struct waiter {
    lazy_once *once;
    lazy_status (*wait)(lazy_once *once);
    pthread_t thread;
    atomic_int id, status;
    int32_t code; /* of the error, like the rest: to be read after waiter_join */
    uint32_t attempt, line;
    uint64_t ticket;
    char message[1024];
} waiter;

/* Apart from the thread's own frame, which is to have nothing on the stack: a sanitizer does not clean up after a thread
   that is cancelled. */
__attribute__((noinline, unused)) static void waiter_failed(waiter *w, lazy_status status) {
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->status, status);
    w->code = error->code;
    w->attempt = error->attempt;
    w->line = error->site.line;
    w->ticket = error->ticket;
    snprintf(w->message, sizeof w->message, "%s", error->message);
}
static inline void *waiter_body(void *arg) {
    waiter *w = (waiter *)arg;
    atomic_store(&w->id, thread_id());
    lazy_status status = w->wait(w->once);
    if (status < 0) waiter_failed(w, status);
    atomic_store(&w->status, status);
    return NULL;
}
static inline void waiter_start(waiter *w, lazy_once *once, lazy_status (*wait)(lazy_once *once)) {
    w->once = once;
    w->wait = wait;
    atomic_store(&w->id, 0);
    atomic_store(&w->status, STILL_WAITING);
    w->thread = start(waiter_body, w);
}
static inline void waiter_asleep(waiter *w) {
    while (!atomic_load(&w->id)) sched_yield();
    until_asleep(atomic_load(&w->id));
}
static inline lazy_status waiter_join(waiter *w) {
    join(w->thread);
    return atomic_load(&w->status);
}

/* That waiter's attempt was left by its thread, and the error says so. */
static inline void waiter_saw_the_end(waiter *w, lazy_status status) {
    CHECK_IS(waiter_join(w), status);
    CHECK_IS(w->code, 0);
    CHECK_HAS(w->message, "end of its thread");
}

/* The kinds of wait. What call and submit hand in is counted. */
static atomic_int handed_in_ran, handed_in_dropped;
static inline int32_t handed_in(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&handed_in_ran, 1);
    return 0;
}
static inline void drop_handed_in(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&handed_in_dropped, 1);
}
static inline int32_t own_initializer(void *ctx) {
    (void)ctx;
    return 0;
}
static inline lazy_status wait_in_init(lazy_once *once) {
    return lazy_once_init(once);
}
static inline lazy_status wait_in_init_at(lazy_once *once) {
    return LAZY_INIT(once);
}
static inline lazy_status wait_in_run(lazy_once *once) {
    return lazy_once_run(once, own_initializer, NULL);
}
static inline lazy_status wait_in_call(lazy_once *once) {
    return lazy_once_call(once, handed_in, NULL);
}
static inline lazy_status wait_in_submit(lazy_once *once) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = handed_in;
    request.drop = drop_handed_in;
    request.site = LAZY_HERE;
    return lazy_once_submit(once, &request, NULL);
}
static inline lazy_status wait_in_reset(lazy_once *once) {
    return lazy_once_reset(once);
}
#endif
