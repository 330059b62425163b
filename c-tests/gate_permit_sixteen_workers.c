// Guards against workers in the way of each other: sixteen under one permit call and submit, and initialize other onces
// together, in the initializer and again in the drain. Every request runs exactly once: the queued ones on the
// initializing thread, the others at once on the worker that handed them in.
#include "waiters.h"

enum { WORKERS = 16, REQUESTS = 50, OTHERS = 3, PHASES = 2 };
static lazy_once once, others[OTHERS];
static lazy_permit permit;
static pthread_barrier_t together;
static atomic_int dropped, others_started[OTHERS], owner;
static struct request { atomic_int ran, thread; } requests[PHASES][WORKERS][REQUESTS][2];
struct job { int phase, number; };

static int32_t run(void *ctx) {
    struct request *request = (struct request *)ctx;
    atomic_fetch_add(&request->ran, 1);
    atomic_store(&request->thread, thread_id());
    return 0;
}
static void drop(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&dropped, 1);
}
static int32_t start_other(void *other) {
    CHECK(lazy_once_is_initializing(&once)); /* whoever does it is a worker */
    atomic_fetch_add((atomic_int *)other, 1);
    return 0;
}
static void *worker(void *arg) {
    struct job *job = (struct job *)arg;
    lazy_status status = job->phase ? LAZY_OK : LAZY_QUEUED;
    pthread_barrier_wait(&together);
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    for (int i = 0; i < REQUESTS; i++) {
        struct request *mine = requests[job->phase][job->number][i];
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = run;
        request.ctx = &mine[1];
        request.drop = drop;
        CHECK_IS(lazy_once_call(&once, run, &mine[0]), status);
        CHECK_IS(lazy_once_submit(&once, &request, NULL), status);
        int other = (i + job->number) % OTHERS;
        CHECK_IS(lazy_once_run(&others[other], start_other, &others_started[other]), LAZY_OK);
        CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
        for (int j = 0; j < 2 && job->phase; j++) CHECK_IS(atomic_load(&mine[j].thread), thread_id());
    }
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return NULL;
}
static void fan_out(int phase) {
    pthread_t threads[WORKERS];
    struct job jobs[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        jobs[i] = (struct job){ phase, i };
        threads[i] = start(worker, &jobs[i]);
    }
    for (int i = 0; i < WORKERS; i++) join(threads[i]);
}
static int32_t drain_fans_out(void *ctx) {
    (void)ctx;
    for (int i = 0; i < OTHERS; i++) others[i] = (lazy_once)LAZY_ONCE_INIT; /* to be started once more */
    fan_out(1);
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_store(&owner, thread_id());
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    fan_out(0);
    return 0;
}

int main(void) {
    pthread_barrier_init(&together, NULL, WORKERS);
    CHECK_IS(lazy_once_call(&once, drain_fans_out, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    for (int i = 0; i < WORKERS * REQUESTS * 2; i++) {
        CHECK_IS(atomic_load(&(&requests[0][0][0][0])[i].ran), 1);
        CHECK_IS(atomic_load(&(&requests[0][0][0][0])[i].thread), atomic_load(&owner));
        CHECK_IS(atomic_load(&(&requests[1][0][0][0])[i].ran), 1);
    }
    for (int i = 0; i < OTHERS; i++) CHECK_IS(atomic_load(&others_started[i]), PHASES);
    CHECK_IS(atomic_load(&dropped), PHASES * WORKERS * REQUESTS);
    pthread_barrier_destroy(&together);
    return finish();
}
