// Guards against a drain that works off a copy of the queue: what other threads hand in while it runs takes its place among
// what is left, an earlier phase next, the same phase at its tail, and all of it runs in this drain, before READY.
#include "requests.h"

static const lazy_config config = { .size = sizeof(lazy_config), .name = "joins", .contended = LAZY_CONTENDED_QUEUE };
static lazy_once once = LAZY_ONCE_WITH(&config);
static stop first = STOP_INIT;
static job n = { .letter = 'n' }, l = { .letter = 'l' }, m = { .letter = 'm' }, a = { .letter = 'a' },
           k = { .letter = 'k' }, z = { .letter = 'z' }, o = { .letter = 'o' }, b = { .letter = 'b' };

static void submit(job *j, int32_t phase) {
    lazy_request request = request_for(j);
    request.phase = phase;
    request.flags = LAZY_REQUEST_NO_WAIT;
    queue_request(&once, request);
}

int main(void) {
    queue_stop(&once, &first, 0, 0);
    queue_job(&once, &n);
    lazy_request last = request_for(&l);
    last.phase = LAZY_PHASE_LAST;
    queue_request(&once, last);
    pthread_t thread = start(initializes, &once);
    gate_wait(&first.reached);
    submit(&z, 2000);
    submit(&m, 0);
    submit(&a, -5);
    CHECK_IS(lazy_once_call(&once, run_job, &o), LAZY_QUEUED); /* plain, under CONTENDED_QUEUE */
    submit(&k, 500);
    submit(&b, -5);
    CHECK_IS(queued_in(&once), 8); /* without the one that runs */
    gate_open(&first.go_on);
    join(thread);
    CHECK(lazy_once_is_initialized(&once));
    CHECK_TRAIL("abnmoklz");
    CHECK_JOB(z, 1, 1);
    CHECK_JOB(o, 1, 0);
    return finish();
}
