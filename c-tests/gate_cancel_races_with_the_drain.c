// Guards against a request that runs after its cancel came back: with the drain and a canceller at the same moment, LAZY_OK
// means that it never ran and was dropped, LAZY_E_NOT_FOUND that it ran and that it and its `drop` are over; by ticket, and by
// owner over several requests, whose count must agree.
#include "requests.h"

enum { each = 4 };
static lazy_once once;
static pthread_barrier_t line_up;
static uint64_t ticket;
static job single, owned[each];
static long total, withdrawn_rounds, too_late_rounds;

static void linger(long steps) {
    for (volatile long left = steps; left > 0; --left) {}
}
static void *cancels(void *ctx) {
    (void)ctx;
    for (long round = 0; round < total; round++) {
        pthread_barrier_wait(&line_up);
        linger(round % 64 * 48);
        lazy_status status = lazy_once_cancel(&once, ticket);
        CHECK_JOB(single, status == LAZY_OK ? 0 : 1, 1);
        CHECK(status == LAZY_OK || status == LAZY_E_NOT_FOUND);
        ++*(status == LAZY_OK ? &withdrawn_rounds : &too_late_rounds);
        size_t withdrawn = lazy_once_cancel_owner(&once, &owned);
        int ran = 0;
        for (int i = 0; i < each; i++) {
            ran += COUNT(owned[i].ran);
            CHECK_IS(COUNT(owned[i].dropped), 1);
        }
        CHECK_IS(withdrawn, each - ran);
        pthread_barrier_wait(&line_up);
    }
    return NULL;
}

int main(void) {
    total = rounds(10000);
    CHECK_IS(pthread_barrier_init(&line_up, NULL, 2), 0);
    pthread_t canceller = start(cancels, NULL);
    for (long round = 0; round < total; round++) {
        job around[2 * each];
        memset(around, 0, sizeof around);
        single = (job){ 0 };
        memset(owned, 0, sizeof owned);
        for (int i = 0; i < each; i++) {
            queue_job(&once, &around[2 * i]);
            lazy_request request = request_for(&owned[i]);
            request.owner = &owned;
            if (i == each / 2) ticket = queue_job(&once, &single);
            queue_request(&once, request);
            CHECK_IS(lazy_once_call(&once, run_job, &around[2 * i + 1]), LAZY_QUEUED);
        }
        pthread_barrier_wait(&line_up);
        linger(round / 64 % 64 * 4);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        pthread_barrier_wait(&line_up);
        for (int i = 0; i < 2 * each; i++) CHECK_IS(around[i].ran, 1);
        CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    }
    join(canceller);
    CHECK_IS(withdrawn_rounds + too_late_rounds, total);
    CHECK(total < 10000 || (withdrawn_rounds > 0 && too_late_rounds > 0)); /* else the two never met */
    CHECK_IS(pthread_barrier_destroy(&line_up), 0);
    return finish();
}
