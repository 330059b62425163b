/* Threads that make one call each and say how it ended, callbacks that stay inside until they are let go, and callbacks
   and drops that count. For C11. */
#ifndef CALLERS_H
#define CALLERS_H
#include "check.h"
#include <stdatomic.h>

/* Stays inside until `go` opens; counts its runs; returns what is then in `code`. */
typedef struct hold { gate inside, go; atomic_int runs, code, thread; } hold;
#define HOLD_INIT { GATE_INIT, GATE_INIT, 0, 0, 0 }
static inline int32_t held(void *ctx) {
    hold *h = (hold *)ctx;
    atomic_fetch_add(&h->runs, 1);
    atomic_store(&h->thread, thread_id());
    gate_open(&h->inside);
    gate_wait(&h->go);
    int code = atomic_load(&h->code);
    return code ? lazy_fail(code, "it was held and failed") : 0;
}
static inline int32_t nothing(void *ctx) {
    (void)ctx;
    return 0;
}
static inline int32_t count(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
    return 0;
}
static inline void count_drop(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
}
static inline int32_t never(void *ctx) {
    (void)ctx;
    CHECK(!"a callback ran that must not run");
    return 0;
}

/* One call on a thread of its own. What the error points to is the thread's, but for the sites; so its text is copied. */
typedef struct caller {
    lazy_status (*call)(void *arg);
    void *arg;
    pthread_t thread;
    atomic_int id;
    lazy_status status;
    lazy_error error;
    char message[1024];
} caller;
static inline void *caller_calls(void *ctx) {
    caller *c = (caller *)ctx;
    atomic_store(&c->id, thread_id());
    c->status = c->call(c->arg);
    if (c->status < 0) {
        c->error = *lazy_last_error();
        CHECK_IS(c->error.status, c->status);
        snprintf(c->message, sizeof c->message, "%s", c->error.message);
    }
    return NULL;
}
static inline void begin(caller *c, lazy_status (*call)(void *arg), void *arg) {
    c->call = call;
    c->arg = arg;
    atomic_store(&c->id, 0);
    c->thread = start(caller_calls, c);
}
/* Returns when the call sleeps. */
static inline void until_waiting(caller *c) {
    while (!atomic_load(&c->id)) sched_yield();
    until_asleep(atomic_load(&c->id));
}
/* Waits for the end of the call. */
static inline lazy_status ended(caller *c) {
    join(c->thread);
    return c->status;
}

static inline lazy_status in_init(void *once) {
    return lazy_once_init((lazy_once *)once);
}
/* Each of these waits while another thread's attempt runs; the callbacks must not run. */
static inline lazy_status in_unlimited_init(void *once) {
    return lazy_once_init_timeout((lazy_once *)once, UINT64_MAX);
}
static inline lazy_status in_run(void *once) {
    return lazy_once_run((lazy_once *)once, never, NULL);
}
static inline lazy_status in_call(void *once) {
    return lazy_once_call((lazy_once *)once, never, NULL);
}
static inline lazy_status in_submit(void *once) {
    return LAZY_CALL((lazy_once *)once, never, NULL);
}
static inline lazy_status in_reset(void *once) {
    return lazy_once_reset((lazy_once *)once);
}

static inline lazy_info info_of(const lazy_once *once) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(once, &info), LAZY_OK);
    return info;
}
#endif
