// Guards against a context that is released although its request was refused: the submitter still owns it. On every refusal
// that can be had here (bad arguments, closed, sticky failure, time-out, deadlock, not now) neither `fn` nor `drop` is called.
#include "requests.h"

static int32_t fails(void *ctx) {
    (void)ctx;
    return 3;
}
static int32_t waits_for(void *once) {
    CHECK_IS(lazy_once_init((lazy_once *)once), LAZY_OK);
    return 0;
}
static int32_t closes_the_circle(void *ctx);
static lazy_once first, second;
static gate first_owned = GATE_INIT, second_owned = GATE_INIT;
static int first_thread;
static int32_t start_first(void *ctx) {
    (void)ctx;
    gate_open(&first_owned);
    gate_wait(&second_owned);
    SET(first_thread, thread_id());
    return waits_for(&second);
}
static const lazy_config sticky_config = { .size = sizeof(lazy_config), .initialize = fails,
                                           .on_failure = LAZY_FAIL_STICKY };
static const lazy_config limited_config = { .size = sizeof(lazy_config), .timeout_ns = 1000 };
static const lazy_config first_config = { .size = sizeof(lazy_config), .name = "first", .initialize = start_first };
static const lazy_config second_config = { .size = sizeof(lazy_config), .name = "second",
                                           .initialize = closes_the_circle };
static lazy_once sticky = LAZY_ONCE_WITH(&sticky_config), limited = LAZY_ONCE_WITH(&limited_config), ready, closed;
static lazy_once first = LAZY_ONCE_WITH(&first_config), second = LAZY_ONCE_WITH(&second_config);
static stop begun = STOP_INIT, late = STOP_INIT;
static job j;

static void check_refused(lazy_once *once, lazy_request request, lazy_status wanted) {
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    CHECK_IS(lazy_once_submit(once, &request, &receipt), wanted);
    CHECK_IS(lazy_last_error()->status, wanted);
    CHECK_JOB(j, 0, 0);
}
static int32_t closes_the_circle(void *ctx) {
    (void)ctx;
    gate_open(&second_owned);
    while (!COUNT(first_thread)) sched_yield();
    until_asleep(COUNT(first_thread));
    check_refused(&first, request_for(&j), LAZY_E_DEADLOCK);
    return 0;
}

int main(void) {
    lazy_request good = request_for(&j), bad = good;
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    bad.fn = NULL;
    check_refused(&ready, bad, LAZY_E_INVALID);
    check_refused(NULL, good, LAZY_E_INVALID);
    bad = good;
    bad.flags = 4;
    check_refused(&ready, bad, LAZY_E_INVALID);
    CHECK_IS(lazy_once_close(&closed), LAZY_OK);
    check_refused(&closed, good, LAZY_E_CLOSED);
    CHECK_IS(lazy_once_init(&sticky), LAZY_E_INIT);
    check_refused(&sticky, good, LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->code, 3);

    queue_stop(&limited, &begun, 0, 0);
    pthread_t thread = start(initializes, &limited);
    gate_wait(&begun.reached);
    check_refused(&limited, good, LAZY_E_TIMEOUT);
    queue_stop(&limited, &late, 0, LAZY_REQUEST_NO_WAIT);
    gate_open(&begun.go_on);
    gate_wait(&late.reached);
    lazy_request no_wait = good;
    no_wait.flags = LAZY_REQUEST_NO_WAIT;
    check_refused(&limited, no_wait, LAZY_E_NOT_NOW);
    gate_open(&late.go_on);
    join(thread);

    thread = start(initializes, &first);
    gate_wait(&first_owned);
    CHECK_IS(lazy_once_init(&second), LAZY_OK);
    join(thread);
    CHECK_JOB(j, 0, 0);
    return finish();
}
