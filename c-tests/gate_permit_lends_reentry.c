// Guards against an initializer that hangs when it joins a worker which needs the same once. Under the permit the worker
// counts as the initializing thread: IN_PROGRESS, calls queued in the initializer and run at once, on the worker, in the
// drain. Before enter and after leave it is a stranger, and other strangers wait to the end.
#include "waiters.h"

static lazy_once once;
static lazy_permit permit;
static waiter stranger;
static atomic_int owner, queued_ran, inline_ran;

static int32_t on_owner(void *ctx) {
    (void)ctx;
    CHECK_IS(thread_id(), atomic_load(&owner));
    atomic_fetch_add(&queued_ran, 1);
    return 0;
}
static int32_t on_worker(void *worker) {
    CHECK_IS(thread_id(), *(int *)worker);
    CHECK(lazy_once_is_initializing(&once) && !lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    atomic_fetch_add(&inline_ran, 1);
    return 0;
}
static int32_t fails(void *ctx) {
    (void)ctx;
    return 9;
}
static void is_a_stranger(void) {
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
}
static void *sibling(void *ctx) {
    (void)ctx;
    is_a_stranger(); /* what its creator holds is not its own */
    return NULL;
}
static void hand_in(lazy_fn fn, lazy_status status, uint32_t outcome) {
    int me = thread_id();
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = fn;
    request.ctx = &me;
    CHECK_IS(lazy_once_call(&once, fn, &me), status);
    CHECK_IS(lazy_once_submit(&once, &request, &receipt), status);
    CHECK_IS(receipt.outcome, outcome);
    CHECK((receipt.ticket != 0) == (outcome == LAZY_OUTCOME_QUEUED));
}
static void *worker(void *is_draining) {
    is_a_stranger();
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK(lazy_once_is_initializing(&once) && !lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_run(&once, fails, NULL), LAZY_IN_PROGRESS);
    if (is_draining) {
        hand_in(on_worker, LAZY_OK, LAZY_RAN_REENTRANT);
        hand_in(fails, LAZY_E_CALLBACK, LAZY_RAN_REENTRANT);
        CHECK_IS(lazy_last_error()->code, 9);
        CHECK_IS(atomic_load(&inline_ran), 2);
    } else {
        hand_in(on_owner, LAZY_QUEUED, LAZY_OUTCOME_QUEUED);
    }
    join(start(sibling, NULL));
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    is_a_stranger();
    CHECK_IS(lazy_permit_leave(&permit), LAZY_E_NOT_FOUND);
    return NULL;
}
static int32_t draining(void *ctx) {
    (void)ctx;
    join(start(worker, &once));
    CHECK_IS(atomic_load(&stranger.status), STILL_WAITING);
    CHECK_IS(atomic_load(&handed_in_ran), 0);
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_store(&owner, thread_id());
    waiter_start(&stranger, &once, wait_in_call);
    waiter_asleep(&stranger);
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK); /* of this attempt: good for its drain as well */
    join(start(worker, NULL));
    CHECK_IS(atomic_load(&queued_ran), 0);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_call(&once, draining, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    CHECK_IS(waiter_join(&stranger), LAZY_OK);
    CHECK_IS(atomic_load(&handed_in_ran), 1);
    CHECK_IS(atomic_load(&queued_ran), 2);
    CHECK_IS(atomic_load(&inline_ran), 2);
    return finish();
}
