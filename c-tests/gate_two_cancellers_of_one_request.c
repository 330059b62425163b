// Guards against a request that is withdrawn twice: of two threads that cancel a queued one at the same moment, one is told
// LAZY_OK and the other LAZY_E_NOT_FOUND, and it is dropped once; two that find it running both wait until it has left.
#include "requests.h"

static lazy_once once;
static pthread_barrier_t line_up;
static uint64_t ticket;
static job wanted_by_two;
static int withdrawn, cancellers[2], left;
static long total;

static void *race(void *ctx) {
    (void)ctx;
    for (long round = 0; round < total; round++) {
        pthread_barrier_wait(&line_up); /* queued */
        lazy_status status = lazy_once_cancel(&once, ticket);
        if (status == LAZY_OK) ADD(withdrawn, 1);
        else CHECK_IS(status, LAZY_E_NOT_FOUND);
        pthread_barrier_wait(&line_up); /* both are back */
    }
    return NULL;
}
static void *finds_it_running(void *number) {
    SET(cancellers[(intptr_t)number], thread_id());
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(COUNT(left), 1);
    return NULL;
}
static int32_t run(void *threads) {
    for (intptr_t i = 0; i < 2; i++) {
        ((pthread_t *)threads)[i] = start(finds_it_running, (void *)i);
        while (!COUNT(cancellers[i])) sched_yield();
        until_asleep(COUNT(cancellers[i]));
    }
    return 1;
}
static void drop(void *ctx) {
    (void)ctx;
    for (int i = 0; i < 2; i++) until_asleep(COUNT(cancellers[i]));
    SET(left, 1);
}

int main(void) {
    pthread_t threads[2];
    total = rounds(5000);
    CHECK_IS(pthread_barrier_init(&line_up, NULL, 3), 0);
    for (int i = 0; i < 2; i++) threads[i] = start(race, NULL);
    for (long round = 0; round < total; round++) {
        wanted_by_two = (job){ 0 };
        withdrawn = 0;
        ticket = queue_job(&once, &wanted_by_two);
        pthread_barrier_wait(&line_up);
        pthread_barrier_wait(&line_up);
        CHECK_IS(COUNT(withdrawn), 1);
        CHECK_JOB(wanted_by_two, 0, 1);
    }
    for (int i = 0; i < 2; i++) join(threads[i]);

    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run;
    request.ctx = threads;
    request.drop = drop;
    ticket = queue_request(&once, request);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    for (int i = 0; i < 2; i++) join(threads[i]);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(pthread_barrier_destroy(&line_up), 0);
    return finish();
}
