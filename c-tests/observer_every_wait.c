// Guards against waits that are told of one function only: cancel, reset, and those that end by a limit or would close a circle have their
// events, too, with the place of what is waited for and how the wait came out.
#include "observed.h"
#include "callers.h"

static lazy_once once = LAZY_ONCE_INIT, left = LAZY_ONCE_INIT, right = LAZY_ONCE_INIT;
static stop stopped = STOP_INIT;
static gate left_inside = GATE_INIT, right_inside = GATE_INIT;
static uint64_t ticket;
static int owner_of_left, waits_begun;

static lazy_status cancels(void *arg) {
    return lazy_once_cancel((lazy_once *)arg, ticket);
}
static lazy_status limited(void *arg) {
    return lazy_once_init_timeout((lazy_once *)arg, 1000000);
}
static int32_t initialize_left(void *ctx) {
    (void)ctx;
    SET(owner_of_left, thread_id());
    gate_open(&left_inside);
    gate_wait(&right_inside);
    CHECK_IS(lazy_once_init(&right), LAZY_OK);
    return 0;
}
static int32_t initialize_right(void *ctx) {
    (void)ctx;
    gate_open(&right_inside);
    while (COUNT(waits_begun) == 0) sched_yield();
    until_asleep(COUNT(owner_of_left));
    CHECK_IS(lazy_once_init(&left), LAZY_E_DEADLOCK);
    return 0;
}
static lazy_status runs_left(void *arg) {
    return lazy_once_run((lazy_once *)arg, initialize_left, NULL);
}
static lazy_status runs_right(void *arg) {
    return lazy_once_run((lazy_once *)arg, initialize_right, NULL);
}
/* Of the circle. */
static void keep_and_count(void *ctx, const lazy_event *event) {
    keep_event(ctx, event);
    if (event->kind == LAZY_EVENT_WAIT && event->duration_ns == 0) ADD(waits_begun, 1);
}
static seen_event *wait_of(caller *c) {
    int from = 0;
    seen_event *seen;
    do seen = next_event(&from, LAZY_EVENT_WAIT, 1);
    while (seen && seen->event.thread != (uint64_t)atomic_load(&c->id));
    CHECK(seen != NULL);
    return seen;
}

int main(void) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run_stop;
    request.ctx = &stopped;
    request.site.file = "the request";
    request.site.line = 12;
    ticket = queue_request(&once, request);
    observe();
    caller owner, waiters[3];
    begin(&owner, in_init, &once);
    gate_wait(&stopped.reached);
    begin(&waiters[0], cancels, &once);
    begin(&waiters[1], in_reset, &once);
    until_waiting(&waiters[0]);
    until_waiting(&waiters[1]);
    begin(&waiters[2], limited, &once);
    CHECK_IS(ended(&waiters[2]), LAZY_E_TIMEOUT);
    gate_open(&stopped.go_on);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&waiters[0]), LAZY_E_NOT_FOUND);
    CHECK_IS(ended(&waiters[1]), LAZY_OK);
    CHECK_EVENTS(LAZY_EVENT_WAIT, 3);
    CHECK_IS(strcmp(wait_of(&waiters[0])->file, "the request"), 0);
    CHECK_IS(wait_of(&waiters[0])->event.site.line, 12);
    CHECK_IS(wait_of(&waiters[0])->event.status, LAZY_OK);
    CHECK_IS(strcmp(wait_of(&waiters[1])->file, program_invocation_name), 0);
    CHECK_IS(wait_of(&waiters[1])->event.status, LAZY_OK);
    CHECK_IS(wait_of(&waiters[2])->event.status, LAZY_E_TIMEOUT);
    CHECK(wait_of(&waiters[2])->event.duration_ns >= 1000000);
    check_nesting();

    observe_with(keep_and_count, NULL);
    event_count = 0;
    caller lefts, rights;
    begin(&lefts, runs_left, &left);
    gate_wait(&left_inside);
    begin(&rights, runs_right, &right);
    CHECK_IS(ended(&lefts), LAZY_OK);
    CHECK_IS(ended(&rights), LAZY_OK);
    observe_no_more();
    CHECK_IS(wait_of(&lefts)->event.status, LAZY_OK);
    CHECK_IS(wait_of(&rights)->event.status, LAZY_E_DEADLOCK);
    check_nesting();
    return finish();
}
