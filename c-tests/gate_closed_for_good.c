// Guards against a close that only some phases know, and against functions that revive a closed once, run something on
// it or leak: closed from each phase, it answers LAZY_E_CLOSED to init, run, call, submit and reset, takes nothing, and
// owns nothing.
#include "callers.h"

static int32_t fails(void *ctx) {
    (void)ctx;
    return 5;
}
static atomic_int dropped, not_taken;

static void queue(lazy_once *once, int requests) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = never;
    request.ctx = &dropped;
    request.drop = count_drop;
    for (int i = 0; i < requests; i++) CHECK_IS(lazy_once_submit(once, &request, NULL), LAZY_QUEUED);
}
/* Closes it, with so many requests in its queue, and tries everything. */
static void close_and_check(lazy_once *once, int queued) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_permit permit;
    atomic_store(&dropped, 0);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
    CHECK_IS(atomic_load(&dropped), queued);
    CHECK_IS(lazy_once_init(once), LAZY_E_CLOSED);
    CHECK_IS(lazy_last_error()->status, LAZY_E_CLOSED);
    CHECK(*lazy_last_error()->message != 0);
    CHECK_IS(lazy_once_init_timeout(once, 0), LAZY_E_CLOSED);
    CHECK_IS(lazy_once_init_timeout(once, UINT64_MAX), LAZY_E_CLOSED);
    CHECK_IS(LAZY_INIT(once), LAZY_E_CLOSED);
    CHECK_IS(lazy_once_run(once, never, NULL), LAZY_E_CLOSED);
    CHECK_IS(lazy_once_call(once, never, NULL), LAZY_E_CLOSED);
    CHECK_IS(LAZY_CALL(once, never, NULL), LAZY_E_CLOSED);
    request.fn = never;
    request.ctx = &not_taken;
    request.drop = count_drop;
    request.owner = &not_taken;
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_E_CLOSED);
    request.flags = LAZY_REQUEST_NO_WAIT;
    request.key = 7;
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_E_CLOSED);
    CHECK_IS(receipt.ticket, 0);
    CHECK_IS(receipt.outcome, 0);
    CHECK_IS(atomic_load(&not_taken), 0);
    CHECK_IS(lazy_once_cancel(once, 1), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_cancel_owner(once, &not_taken), 0);
    CHECK_IS(lazy_permit_capture(once, &permit), LAZY_E_INVALID);
    CHECK_IS(lazy_once_reset(once), LAZY_E_CLOSED);
    CHECK_IS(lazy_last_error()->status, LAZY_E_CLOSED);
    CHECK(!lazy_once_is_initialized(once));
    CHECK(!lazy_once_is_initializing(once));
    lazy_info info = info_of(once);
    CHECK_IS(info.phase, LAZY_CLOSED);
    CHECK_IS(info.queued, 0);
    CHECK_IS(info.waiters, 0);
    CHECK_IS(info.owner_thread, 0);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
    CHECK_IS(lazy_once_init(once), LAZY_E_CLOSED);
    CHECK_IS(atomic_load(&dropped), queued);
    memset(once, 0xcd, sizeof *once);
}

int main(void) {
    static const lazy_config bound = { .size = sizeof(lazy_config), .name = "bound", .initialize = nothing };
    lazy_config config = LAZY_CONFIG_INIT;
    for (int requests = 0; requests <= 3; requests += 3) { /* fresh, and fresh with a queue */
        lazy_once zeroed = { 0, 0, NULL, NULL, NULL }, plain = LAZY_ONCE_INIT, constant = LAZY_ONCE_WITH(&bound);
        lazy_once configured = LAZY_ONCE_INIT, failed = LAZY_ONCE_INIT, sticky = LAZY_ONCE_INIT;
        lazy_once *onces[] = { &zeroed, &plain, &constant, &configured, &failed, &sticky };
        config.name = "configured";
        config.initialize = nothing;
        config.on_failure = LAZY_FAIL_SHARE;
        CHECK_IS(lazy_once_configure(&configured, &config), LAZY_OK);
        config.initialize = fails;
        CHECK_IS(lazy_once_configure(&failed, &config), LAZY_OK);
        config.on_failure = LAZY_FAIL_STICKY;
        CHECK_IS(lazy_once_configure(&sticky, &config), LAZY_OK);
        for (int i = 0; i < 6; i++) queue(onces[i], requests);
        for (int i = 4; i < 6; i++) CHECK_IS(lazy_once_init(onces[i]), LAZY_E_INIT);
        CHECK_IS(info_of(&sticky).phase, LAZY_FAILED);
        for (int i = 0; i < 6; i++) close_and_check(onces[i], requests);
    }
    lazy_once plain = LAZY_ONCE_INIT, constant = LAZY_ONCE_WITH(&bound), configured = LAZY_ONCE_INIT;
    lazy_once half = LAZY_ONCE_INIT;
    lazy_once *ready[] = { &plain, &constant, &configured };
    CHECK_IS(lazy_once_configure(&configured, &bound), LAZY_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_IS(lazy_once_init(ready[i]), LAZY_OK);
        close_and_check(ready[i], 0);
    }
    CHECK_IS(lazy_once_call(&half, fails, NULL), LAZY_QUEUED); /* up, but its queue failed */
    queue(&half, 2);
    CHECK_IS(lazy_once_init(&half), LAZY_E_DEFERRED);
    close_and_check(&half, 2);
    return finish();
}
