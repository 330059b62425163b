// Guards against a hang between the loader's lock and the gate: a thread inside prepare never waits for another thread's
// attempt. There init and run are LAZY_IN_PROGRESS and a call or submit is appended, while the other initializes, while
// it drains, and also when the drain takes nothing from others any more; all of it runs before READY.
#include "callers.h"

static hold start_up = HOLD_INIT, queued_first = HOLD_INIT, queued_late = HOLD_INIT;
static gate now_initializing = GATE_INIT, now_draining = GATE_INIT, now_closing = GATE_INIT, in_prepare = GATE_INIT;
static gate tried[3] = { GATE_INIT, GATE_INIT, GATE_INIT };
static atomic_int prepared, ran, expected;
static int32_t prepare(void *ctx);
static const lazy_config config = { .size = sizeof(lazy_config), .name = "loaded", .prepare = prepare, .initialize = held,
                                    .ctx = &start_up };
static lazy_once once = LAZY_ONCE_WITH(&config);

static void try_everything(gate *when, gate *done) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    gate_wait(when);
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_init_timeout(&once, UINT64_MAX), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_run(&once, never, NULL), LAZY_IN_PROGRESS);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    request.fn = count;
    request.ctx = &ran;
    CHECK_IS(lazy_once_submit(&once, &request, &receipt), LAZY_QUEUED);
    CHECK_IS(receipt.outcome, LAZY_OUTCOME_QUEUED);
    request.flags = LAZY_REQUEST_NO_WAIT;
    CHECK_IS(lazy_once_submit(&once, &request, &receipt), LAZY_QUEUED);
    atomic_fetch_add(&expected, 3);
    gate_open(done);
}
static int32_t prepare(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&prepared, 1) > 0) return 0;
    gate_open(&in_prepare);
    try_everything(&now_initializing, &tried[0]);
    try_everything(&now_draining, &tried[1]);
    try_everything(&now_closing, &tried[2]);
    return 0;
}
static lazy_status submit_no_wait(lazy_fn fn, void *ctx) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = fn;
    request.ctx = ctx;
    request.flags = LAZY_REQUEST_NO_WAIT;
    return lazy_once_submit(&once, &request, NULL);
}

int main(void) {
    caller preparing, owner;
    CHECK_IS(lazy_once_call(&once, held, &queued_first), LAZY_QUEUED);
    begin(&preparing, in_init, &once);
    gate_wait(&in_prepare);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    gate_open(&now_initializing);
    gate_wait(&tried[0]);

    gate_open(&start_up.go);
    gate_wait(&queued_first.inside);
    gate_open(&now_draining);
    gate_wait(&tried[1]);
    CHECK_IS(submit_no_wait(held, &queued_late), LAZY_QUEUED);

    gate_open(&queued_first.go);
    gate_wait(&queued_late.inside); /* what was queued when the drain began has run */
    CHECK_IS(submit_no_wait(never, NULL), LAZY_E_NOT_NOW);
    gate_open(&now_closing);
    gate_wait(&tried[2]);
    CHECK_IS(submit_no_wait(never, NULL), LAZY_E_NOT_NOW);
    CHECK(!lazy_once_is_initialized(&once));
    gate_open(&queued_late.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(atomic_load(&ran), atomic_load(&expected));
    CHECK_IS(atomic_load(&expected), 9);
    CHECK_IS(ended(&preparing), LAZY_OK);
    CHECK_IS(atomic_load(&start_up.runs), 1);
    CHECK_IS(atomic_load(&prepared), 2);
    return finish();
}
