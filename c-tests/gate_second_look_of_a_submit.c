// needs: hooks
// Guards against a request that is queued for nobody: it found the once not ready, and somebody else made it ready before the
// append. Also with NO_WAIT and under CONTENDED_QUEUE it must run now, on its own thread, as LAZY_RAN_AFTER_WAIT, without a
// ticket, and be dropped.
#include "second_look.h"
#include "requests.h"

static const lazy_config contended = { .size = sizeof(lazy_config), .contended = LAZY_CONTENDED_QUEUE };
static lazy_once plain, queueing = LAZY_ONCE_WITH(&contended), *once;
static job j;

static int32_t run_here(void *ctx) {
    CHECK_IS(thread_id(), atomic_load(&held_thread));
    CHECK(lazy_once_is_initialized(once));
    return run_job(ctx);
}
static void *submits(void *flags) {
    lazy_request request = request_for(&j);
    lazy_receipt receipt = { sizeof receipt, UINT64_MAX, 77 };
    request.fn = run_here;
    request.flags = (uint32_t)(uintptr_t)flags;
    hold_this_thread();
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_OK);
    CHECK_IS(receipt.outcome, LAZY_RAN_AFTER_WAIT);
    CHECK_IS(receipt.ticket, 0);
    CHECK_JOB(j, 1, 1);
    return NULL;
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        uintptr_t flags = round == 1 ? LAZY_REQUEST_NO_WAIT : 0;
        once = round == 2 ? &queueing : &plain;
        j = (job){ 0 };
        looked = go_on = (gate)GATE_INIT;
        pthread_t a = start(submits, (void *)flags);
        gate_wait(&looked);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
        CHECK_JOB(j, 0, 0);
        gate_open(&go_on);
        join(a);
        CHECK_JOB(j, 1, 1);
        CHECK_IS(lazy_once_reset(once), LAZY_OK);
    }
    CHECK_IS(atomic_load(&hook_calls), 3);
    return finish();
}
