/* A straightforward gate that looks at its flag without the lock, so that callbacks run outside it. It has lazyonce's
   names, so that one program is compiled against both. */
#ifndef OLD_UNLOCKED_CHECK_H
#define OLD_UNLOCKED_CHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef int32_t lazy_status;
enum { LAZY_OK = 0, LAZY_QUEUED = 1, LAZY_E_INIT = -3, LAZY_E_CALLBACK = -5 };
typedef int32_t (*lazy_fn)(void *ctx);
typedef struct {
    pthread_mutex_t lock, queue_lock;
    bool ready;
    int queued;
    struct { lazy_fn fn; void *ctx; } queue[4];
} lazy_once;

static void between_drain_and_flag(void);

static lazy_status lazy_once_call(lazy_once *gate, lazy_fn fn, void *ctx) {
    if (__atomic_load_n(&gate->ready, __ATOMIC_ACQUIRE)) return fn(ctx) ? LAZY_E_CALLBACK : LAZY_OK;
    pthread_mutex_lock(&gate->queue_lock);
    gate->queue[gate->queued].fn = fn;
    gate->queue[gate->queued++].ctx = ctx;
    pthread_mutex_unlock(&gate->queue_lock);
    return LAZY_QUEUED;
}

static lazy_status lazy_once_run(lazy_once *gate, lazy_fn initialize, void *ctx) {
    lazy_status status = LAZY_OK;
    pthread_mutex_lock(&gate->lock);
    if (!gate->ready) {
        if (initialize(ctx)) status = LAZY_E_INIT;
        for (int i = 0; status == LAZY_OK; i++) {
            pthread_mutex_lock(&gate->queue_lock);
            bool empty = i == gate->queued;
            lazy_fn fn = empty ? 0 : gate->queue[i].fn;
            void *fn_ctx = empty ? 0 : gate->queue[i].ctx;
            pthread_mutex_unlock(&gate->queue_lock);
            if (empty) break;
            fn(fn_ctx);
        }
        between_drain_and_flag();
        __atomic_store_n(&gate->ready, status == LAZY_OK, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&gate->lock);
    return status;
}

#endif
