// Guards against requests that failed under CONTINUE and are then out of reach until the attempt ends: while the others run,
// they can be cancelled by ticket and by owner, and replaced by their key, and are then not kept; the attempt has failed
// nevertheless. What was replaced runs in this drain.
#include "requests.h"

static const lazy_config config = { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_CONTINUE };
static lazy_once once = LAZY_ONCE_WITH(&config);
static stop others = STOP_INIT;
static job by_ticket = { .failures = 9 }, by_owner = { .failures = 9 }, by_key = { .failures = 9 }, newer,
           kept = { .failures = 1 };

int main(void) {
    uint64_t ticket = queue_job(&once, &by_ticket);
    lazy_request request = request_for(&by_owner);
    request.owner = &by_owner;
    queue_request(&once, request);
    request = request_for(&by_key);
    request.key = 11;
    queue_request(&once, request);
    queue_job(&once, &kept);
    queue_stop(&once, &others, 0, 0);
    pthread_t thread = start(fails_deferred, &once);
    gate_wait(&others.reached);
    CHECK_JOB(by_ticket, 1, 0);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_OK);
    CHECK_JOB(by_ticket, 1, 1);
    CHECK_IS(lazy_once_cancel_owner(&once, &by_owner), 1);
    CHECK_JOB(by_owner, 1, 1);
    request = request_for(&newer);
    request.key = 11;
    request.flags = LAZY_REQUEST_NO_WAIT;
    queue_request(&once, request);
    CHECK_JOB(by_key, 1, 1);
    gate_open(&others.go_on);
    join(thread);
    CHECK_JOB(newer, 1, 1);
    CHECK_IS(queued_in(&once), 1);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_JOB(by_ticket, 1, 1);
    CHECK_JOB(by_owner, 1, 1);
    CHECK_JOB(by_key, 1, 1);
    CHECK_JOB(newer, 1, 1);
    CHECK_JOB(kept, 2, 1);
    return finish();
}
