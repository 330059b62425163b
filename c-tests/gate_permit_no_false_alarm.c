// Guards against a false alarm among workers: three onces that need each other in one direction only, each with a worker
// that needs the later ones as well, and strangers that need any. However they meet, nobody is ever refused, and nobody
// hangs.
#include "waiters.h"

enum { ONCES = 3, STRANGERS = 3 };
static lazy_once onces[ONCES];
static lazy_permit permits[ONCES];
static pthread_barrier_t round_begins, round_ends;
static atomic_int stop;

static int32_t needs_later(void *number);
static void need(intptr_t from, unsigned order) {
    for (intptr_t i = 0; i < ONCES - from; i++) {
        intptr_t which = order % 2 ? ONCES - 1 - i : from + i;
        lazy_status status = order % 3 ? lazy_once_run(&onces[which], needs_later, (void *)which) : LAZY_OK;
        CHECK(status == LAZY_OK || status == LAZY_IN_PROGRESS);
        CHECK(lazy_once_call(&onces[which], handed_in, NULL) >= 0);
    }
}
static void *worker(void *number) {
    intptr_t which = (intptr_t)number;
    CHECK_IS(lazy_permit_enter(&permits[which]), LAZY_OK);
    need(which + 1, (unsigned)thread_id());
    CHECK_IS(lazy_once_init(&onces[which]), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_permit_leave(&permits[which]), LAZY_OK);
    return NULL;
}
static int32_t needs_later(void *number) {
    intptr_t which = (intptr_t)number;
    CHECK_IS(lazy_permit_capture(&onces[which], &permits[which]), LAZY_OK);
    pthread_t thread = start(worker, number);
    need(which + 1, (unsigned)thread_id() / 2);
    join(thread);
    return 0;
}
static void *stranger(void *number) {
    intptr_t which = (intptr_t)number;
    for (unsigned i = 0;; i++) {
        pthread_barrier_wait(&round_begins);
        if (atomic_load(&stop)) return NULL;
        CHECK_IS(lazy_once_run(&onces[which], needs_later, (void *)which), LAZY_OK);
        need(0, i);
        pthread_barrier_wait(&round_ends);
    }
}

int main(void) {
    pthread_t threads[STRANGERS];
    pthread_barrier_init(&round_begins, NULL, STRANGERS + 1);
    pthread_barrier_init(&round_ends, NULL, STRANGERS + 1);
    for (intptr_t i = 0; i < STRANGERS; i++) threads[i] = start(stranger, (void *)i);
    for (long i = rounds(1500); i > 0; i--) {
        pthread_barrier_wait(&round_begins);
        pthread_barrier_wait(&round_ends);
        for (int j = 0; j < ONCES; j++) {
            CHECK_IS(lazy_once_run(&onces[j], own_initializer, NULL), LAZY_OK);
            onces[j] = (lazy_once)LAZY_ONCE_INIT;
        }
    }
    atomic_store(&stop, 1);
    pthread_barrier_wait(&round_begins);
    for (int i = 0; i < STRANGERS; i++) join(threads[i]);
    return finish();
}
