// Guards against a search that walks every way through a circle: fourteen onces, each started by a thread with three workers
// under its permit, all four of which wait for the next once. There are 4^14 ways round, too many for the time limit of a
// test; the thread that comes last is refused, at once, and nobody else.
#include "waiters.h"

enum { ONCES = 14, WORKERS = 3, THREADS = WORKERS + 1 };
static lazy_once onces[ONCES];
static lazy_permit permits[ONCES];
static atomic_int ids[ONCES][THREADS], entered[ONCES], owned, refused;
static gate last_may_wait = GATE_INIT;

static void need_next(int which, int thread) {
    while (atomic_load(&owned) < ONCES) sched_yield();
    if (which == 0 && thread == 0) gate_wait(&last_may_wait);
    atomic_store(&ids[which][thread], thread_id());
    lazy_status status = lazy_once_init(&onces[(which + 1) % ONCES]);
    if (status != LAZY_E_DEADLOCK) {
        CHECK_IS(status, LAZY_OK);
        return;
    }
    CHECK(which == 0 && thread == 0);
    CHECK_IS(atomic_fetch_add(&refused, 1), 0);
}
static void *worker(void *number) {
    int which = (int)(intptr_t)number % ONCES;
    CHECK_IS(lazy_permit_enter(&permits[which]), LAZY_OK);
    atomic_fetch_add(&entered[which], 1);
    need_next(which, 1 + (int)(intptr_t)number / ONCES);
    CHECK_IS(lazy_permit_leave(&permits[which]), LAZY_OK);
    return NULL;
}
static pthread_t workers[ONCES][WORKERS];
static int32_t initialize(void *number) {
    intptr_t which = (intptr_t)number;
    CHECK_IS(lazy_permit_capture(&onces[which], &permits[which]), LAZY_OK);
    for (int i = 0; i < WORKERS; i++) workers[which][i] = start(worker, (void *)(which + i * ONCES));
    while (atomic_load(&entered[which]) < WORKERS) sched_yield();
    atomic_fetch_add(&owned, 1);
    need_next((int)which, 0);
    return 0; /* its workers may go on waiting for the next one; this attempt is over */
}
static void *initializing(void *number) {
    CHECK_IS(lazy_once_run(&onces[(intptr_t)number], initialize, number), LAZY_OK);
    return NULL;
}

int main(void) {
    pthread_t threads[ONCES];
    for (intptr_t i = 0; i < ONCES; i++) threads[i] = start(initializing, (void *)i);
    for (int i = 0; i < ONCES * THREADS; i++) {
        if (i == 0) continue;
        while (!atomic_load(&ids[i / THREADS][i % THREADS])) sched_yield();
        until_asleep(atomic_load(&ids[i / THREADS][i % THREADS]));
    }
    CHECK_IS(atomic_load(&refused), 0);
    gate_open(&last_may_wait);
    for (int i = 0; i < ONCES; i++) {
        join(threads[i]);
        for (int j = 0; j < WORKERS; j++) join(workers[i][j]);
        CHECK(lazy_once_is_initialized(&onces[i]));
    }
    CHECK_IS(atomic_load(&refused), 1);
    return finish();
}
