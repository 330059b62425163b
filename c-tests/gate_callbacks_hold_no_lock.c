// Guards against `fn`, `drop` or `describe` called with a lock held: each calls back into its once and into another one, and
// waits for a thread that uses them too, on every way on which it is called; under any lock of the library one of the two
// would sleep for ever.
#include "requests.h"

static lazy_once other;
static int calls, taken, dropped_inside;
static const lazy_config dropping = { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_DROP };
static const lazy_config failing_config = { .size = sizeof(lazy_config) };
static lazy_once onces[] = { LAZY_ONCE_WITH(&failing_config), LAZY_ONCE_WITH(&dropping), LAZY_ONCE_INIT, LAZY_ONCE_INIT,
                             LAZY_ONCE_INIT };

static int32_t nothing(void *ctx) {
    (void)ctx;
    return 0;
}
static void drop_inside(void *ctx) {
    (void)ctx;
    ADD(dropped_inside, 1);
}
/* Takes what locks there may be: of this once's queue, of what the onces share. Never waits. */
static void *use(void *ctx) {
    lazy_once *once = ctx;
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = nothing;
    request.drop = drop_inside;
    request.flags = LAZY_REQUEST_NO_WAIT;
    lazy_status status = lazy_once_submit(once, &request, NULL);
    CHECK(status >= 0 || status == LAZY_E_NOT_NOW || status == LAZY_E_CLOSED);
    if (status >= 0) ADD(taken, 1);
    CHECK_IS(lazy_once_cancel(once, UINT64_MAX), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_cancel_owner(once, &other), 0);
    queued_in(once);
    lazy_once brief = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_call(&brief, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&brief), LAZY_OK);
    CHECK(lazy_once_named("callbacks hold no lock") != NULL);
    CHECK(lazy_once_call(&other, nothing, NULL) >= 0);
    return NULL;
}
static void call_back(void *once) {
    ADD(calls, 1);
    use(once);
    join(start(use, once));
}
static int32_t calls_back(void *once) {
    call_back(once);
    return 0;
}
static int32_t calls_back_and_fails(void *once) {
    call_back(once);
    return 1;
}
static void describes(void *once, char *buffer, size_t capacity) {
    call_back(once);
    snprintf(buffer, capacity, "a request that calls back");
}
static lazy_request request_on(lazy_once *once, lazy_fn fn) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = fn;
    request.ctx = once;
    request.drop = call_back;
    request.describe = describes;
    request.key = 1;
    request.owner = once;
    return request;
}
static void check_calls(int wanted) {
    CHECK_IS(COUNT(calls), wanted);
    SET(calls, 0);
}

int main(void) {
    uint64_t ticket = queue_request(&onces[0], request_on(&onces[0], calls_back_and_fails));
    CHECK_IS(lazy_once_init(&onces[0]), LAZY_E_DEFERRED);
    check_calls(2); /* fn, describe */
    CHECK_HAS(lazy_last_error()->message, "a request that calls back");
    CHECK_IS(lazy_once_cancel(&onces[0], ticket), LAZY_OK);
    check_calls(1);

    queue_request(&onces[1], request_on(&onces[1], calls_back_and_fails));
    CHECK_IS(lazy_once_init(&onces[1]), LAZY_E_DEFERRED);
    check_calls(3);

    queue_request(&onces[2], request_on(&onces[2], calls_back));
    queue_request(&onces[2], request_on(&onces[2], calls_back));
    check_calls(1); /* the replaced one */
    CHECK_IS(lazy_once_cancel_owner(&onces[2], &onces[2]), 1);
    check_calls(1);

    queue_request(&onces[3], request_on(&onces[3], calls_back));
    CHECK_IS(lazy_once_init(&onces[3]), LAZY_OK);
    check_calls(2);
    lazy_request now = request_on(&onces[3], calls_back);
    CHECK_IS(lazy_once_submit(&onces[3], &now, NULL), LAZY_OK);
    check_calls(2);

    queue_request(&onces[4], request_on(&onces[4], calls_back));
    CHECK_IS(lazy_once_close(&onces[4]), LAZY_OK);
    check_calls(1);

    /* Every once is emptied: what the callbacks handed in has gone the same ways. */
    for (int i = 0; i < 4; i++) CHECK_IS(lazy_once_init(&onces[i]), LAZY_OK);
    CHECK(COUNT(taken) > 0);
    CHECK_IS(COUNT(dropped_inside), COUNT(taken));
    return finish();
}
