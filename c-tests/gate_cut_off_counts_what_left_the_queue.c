// Guards against a cut-off that never comes because it waits for requests that will not run: of those that were queued when
// the drain began, some are cancelled, withdrawn by their owner, replaced by their key, removed by one that runs inline, or
// kept because they failed. When the last of the others has run, NO_WAIT is refused.
#include "requests.h"

static const lazy_config continues = { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_CONTINUE };
static lazy_once once, keeping = LAZY_ONCE_WITH(&continues);
static stop first = STOP_INIT, late = STOP_INIT;
static job cancelled, owned, replaced, removed, newer, inline_one, refused;

static uint64_t submit(job *j, uint64_t key, const void *owner, uint32_t flags) {
    lazy_request request = request_for(j);
    request.key = key;
    request.owner = owner;
    request.flags = flags;
    return queue_request(&once, request);
}
static int32_t run_first(void *ctx) {
    lazy_request request = request_for(&inline_one);
    run_stop(ctx);
    request.key = 2;
    return lazy_once_submit(&once, &request, NULL);
}

int main(void) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run_first;
    request.ctx = &first;
    queue_request(&once, request);
    uint64_t ticket = submit(&cancelled, 0, NULL, 0);
    submit(&owned, 0, &owned, 0);
    submit(&replaced, 1, NULL, 0);
    submit(&removed, 2, NULL, 0);
    pthread_t thread = start(initializes, &once);
    gate_wait(&first.reached);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_OK);
    CHECK_IS(lazy_once_cancel_owner(&once, &owned), 1);
    submit(&newer, 1, NULL, LAZY_REQUEST_NO_WAIT);
    CHECK_JOB(replaced, 0, 1);
    queue_stop(&once, &late, 0, LAZY_REQUEST_NO_WAIT);
    gate_open(&first.go_on);
    gate_wait(&late.reached);
    CHECK_JOB(removed, 0, 1);
    CHECK_JOB(inline_one, 1, 1);
    CHECK_JOB(newer, 1, 1);
    request = request_for(&refused);
    request.flags = LAZY_REQUEST_NO_WAIT;
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_E_NOT_NOW);
    request.key = 1;
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_E_NOT_NOW);
    gate_open(&late.go_on);
    join(thread);
    CHECK_JOB(refused, 0, 0);
    CHECK_JOB(cancelled, 0, 1);
    CHECK_JOB(owned, 0, 1);
    CHECK(lazy_once_is_initialized(&once));

    /* What failed and is kept has run. */
    first = late = (stop)STOP_INIT;
    first.result = 1;
    queue_stop(&keeping, &first, 0, 0);
    thread = start(fails_deferred, &keeping);
    gate_wait(&first.reached);
    queue_stop(&keeping, &late, 0, LAZY_REQUEST_NO_WAIT);
    gate_open(&first.go_on);
    gate_wait(&late.reached);
    CHECK_IS(lazy_once_submit(&keeping, &request, NULL), LAZY_E_NOT_NOW);
    gate_open(&late.go_on);
    join(thread);
    first.result = 0;
    CHECK_IS(lazy_once_init(&keeping), LAZY_OK);
    CHECK_JOB(refused, 0, 0);
    return finish();
}
