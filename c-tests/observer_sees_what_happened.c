// Guards against an observer that misses an attempt, a callback or a wait, or tells of it what is not so: each is there once with its
// beginning and its end, nested on its thread, with the place, the ticket and how it ended.
#include "observed.h"
#include "callers.h"

static lazy_once once = LAZY_ONCE_INIT, inner = LAZY_ONCE_INIT;
static stop stopped = STOP_INIT;
static int failures = 1;

static int32_t initialize(void *ctx) {
    (void)ctx;
    return failures-- > 0 ? lazy_fail(7, "not the first time") : lazy_once_init(&inner);
}
static int32_t reenters(void *ctx) {
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_OK);
    return run_stop(ctx);
}
static lazy_status in_no_time(void *arg) {
    return lazy_once_init_timeout((lazy_once *)arg, 0);
}
static seen_event *request_at(int line, int end) {
    int from = 0;
    for (seen_event *seen; (seen = next_event(&from, LAZY_EVENT_REQUEST, end)) != NULL;)
        if ((int)seen->event.site.line == line) return seen;
    return NULL;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "the seen one";
    config.initialize = initialize;
    config.on_deferred_failure = LAZY_DEFERRED_DROP;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
    job fails = { 'f', 1, 0, 0, 0 };
    int line = __LINE__ + 1;
    CHECK_IS(LAZY_CALL(&once, run_job, &fails), LAZY_QUEUED);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = reenters;
    request.ctx = &stopped;
    request.site.file = "made up";
    request.site.line = 4711;
    uint64_t ticket = queue_request(&once, request);

    observe();
    CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
    CHECK_EVENTS(LAZY_EVENT_ATTEMPT, 1);
    CHECK_EVENTS(LAZY_EVENT_REQUEST, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    caller owner, waiters[2];
    begin(&owner, in_init, &once);
    gate_wait(&stopped.reached);
    begin(&waiters[0], in_init, &once);
    begin(&waiters[1], in_no_time, &once);
    until_waiting(&waiters[0]);
    CHECK_IS(ended(&waiters[1]), LAZY_E_TIMEOUT);
    gate_open(&stopped.go_on);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&waiters[0]), LAZY_OK);
    int ready = event_count;
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_OK);
    CHECK_IS(event_count, ready);
    observe_no_more();

    /* Attempts: failed, failed in the queue, succeeded, and the inner one's. */
    static const lazy_status ends[] = { LAZY_E_INIT, LAZY_OK, LAZY_E_DEFERRED, LAZY_OK };
    static const uint32_t phases[] = { LAZY_FRESH, LAZY_READY, LAZY_FRESH, LAZY_READY };
    static const int numbers[] = { 1, 1, 2, 3 };
    CHECK_EVENTS(LAZY_EVENT_ATTEMPT, 4);
    for (int i = 0, from = 0; i < 4; i++) {
        seen_event *end = next_event(&from, LAZY_EVENT_ATTEMPT, 1);
        CHECK_IS(end->event.status, ends[i]);
        CHECK_IS(end->event.phase, phases[i]);
        CHECK_IS(end->event.ticket, numbers[i]);
        CHECK_IS(strcmp(end->once, i == 1 ? "" : "the seen one"), 0);
        if (i != 1) CHECK_IS(strcmp(end->file, program_invocation_name), 0); /* the inner one may be a tail call, from nowhere here */
    }
    /* Callbacks: two plain ones, the failing one, the last one and what it calls. */
    CHECK_EVENTS(LAZY_EVENT_REQUEST, 5);
    CHECK_IS(request_at(line, 1)->event.status, LAZY_E_DEFERRED);
    CHECK_HAS(request_at(line, 0)->file, "observer_sees_what_happened.c");
    CHECK_IS(strcmp(request_at(line, 0)->function, "main"), 0);
    CHECK_IS(request_at(4711, 1)->event.status, LAZY_OK);
    CHECK_IS(request_at(4711, 0)->event.ticket, ticket);
    CHECK_IS(request_at(4711, 0)->event.phase, LAZY_DRAINING);
    CHECK_IS(request_at(4711, 0)->event.thread, atomic_load(&owner.id));
    /* One thread waited, and one could not wait any longer before it began to. */
    CHECK_EVENTS(LAZY_EVENT_WAIT, 1);
    int from = 0;
    seen_event *wait = next_event(&from, LAZY_EVENT_WAIT, 1);
    CHECK_IS(wait->event.thread, atomic_load(&waiters[0].id));
    CHECK_IS(wait->event.status, LAZY_OK);
    CHECK_EVENTS(LAZY_EVENT_HOST_WAIT, 0);
    check_nesting();
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
