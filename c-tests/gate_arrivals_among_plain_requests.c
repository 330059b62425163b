// Guards against plain requests that are run as a block which nothing can enter or stop: while the first of many runs, a
// request of an earlier phase goes before the rest, the rest counts as queued, and after `close` none of it runs.
#include "requests.h"

static lazy_once once, closed;
static stop first, again;
static job b = { .letter = 'b' }, c = { .letter = 'c' }, a = { .letter = 'a' }, d = { .letter = 'd' }, never;

static void *finds_it_closed(void *ctx) {
    CHECK_IS(lazy_once_init((lazy_once *)ctx), LAZY_E_CLOSED);
    return NULL;
}

int main(void) {
    first = again = (stop)STOP_INIT;
    CHECK_IS(lazy_once_call(&once, run_stop, &first), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, run_job, &b), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, run_job, &c), LAZY_QUEUED);
    pthread_t thread = start(initializes, &once);
    gate_wait(&first.reached);
    CHECK_IS(queued_in(&once), 2); /* without the one that runs */
    lazy_request request = request_for(&a);
    request.flags = LAZY_REQUEST_NO_WAIT;
    request.phase = -1;
    queue_request(&once, request);
    request = request_for(&d);
    request.flags = LAZY_REQUEST_NO_WAIT;
    queue_request(&once, request);
    CHECK_IS(queued_in(&once), 4);
    gate_open(&first.go_on);
    join(thread);
    CHECK_TRAIL("abcd");

    CHECK_IS(lazy_once_call(&closed, run_stop, &again), LAZY_QUEUED);
    for (int i = 0; i < 300; i++) CHECK_IS(lazy_once_call(&closed, run_job, &never), LAZY_QUEUED);
    thread = start(finds_it_closed, &closed);
    gate_wait(&again.reached);
    CHECK_IS(lazy_once_close(&closed), LAZY_OK);
    gate_open(&again.go_on);
    join(thread);
    CHECK_JOB(never, 0, 0);
    return finish();
}
