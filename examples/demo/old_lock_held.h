/* A straightforward gate: one lock around check, callback, append and drain, so that no call is lost. It has lazyonce's
   names, so that one program is compiled against both. */
#ifndef OLD_LOCK_HELD_H
#define OLD_LOCK_HELD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t lazy_status;
enum { LAZY_OK = 0, LAZY_QUEUED = 1, LAZY_IN_PROGRESS = 2, LAZY_E_INIT = -3, LAZY_E_DEFERRED = -4, LAZY_E_CALLBACK = -5 };
typedef int32_t (*lazy_fn)(void *ctx);
typedef struct {
    size_t size;
    const char *name;
    lazy_fn initialize;
    void *ctx;
} lazy_config;
typedef struct {
    pthread_mutex_t lock;
    const lazy_config *config;
    bool ready;
    int queued;
    struct { lazy_fn fn; void *ctx; } queue[16];
} lazy_once;

static lazy_once the_gate = {PTHREAD_MUTEX_INITIALIZER, 0, false, 0, {{0, 0}}};
static __thread bool initializing;

static lazy_once *lazy_default(void) { return &the_gate; }
static lazy_status lazy_once_configure(lazy_once *gate, const lazy_config *config) {
    gate->config = config;
    return LAZY_OK;
}
static bool is_initialized(void) { return __atomic_load_n(&the_gate.ready, __ATOMIC_ACQUIRE); }

static lazy_status lazy_call(lazy_fn fn, void *ctx) {
    lazy_status status = LAZY_QUEUED;
    pthread_mutex_lock(&the_gate.lock);
    if (the_gate.ready) {
        status = fn(ctx) ? LAZY_E_CALLBACK : LAZY_OK;
    } else {
        the_gate.queue[the_gate.queued].fn = fn;
        the_gate.queue[the_gate.queued++].ctx = ctx;
    }
    pthread_mutex_unlock(&the_gate.lock);
    return status;
}

static lazy_status lazy_init(void) {
    lazy_status status = LAZY_OK;
    if (initializing) return LAZY_IN_PROGRESS;
    pthread_mutex_lock(&the_gate.lock);
    if (!the_gate.ready) {
        initializing = true;
        if (the_gate.config->initialize(the_gate.config->ctx)) status = LAZY_E_INIT;
        for (int i = 0; i < the_gate.queued && status == LAZY_OK; i++)
            if (the_gate.queue[i].fn(the_gate.queue[i].ctx)) status = LAZY_E_DEFERRED;
        initializing = false;
        __atomic_store_n(&the_gate.ready, status == LAZY_OK, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&the_gate.lock);
    return status;
}

#endif
