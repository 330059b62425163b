// Guards against a context that is released twice, never, or too early: on each way out of the queue, and on each way of
// running at once, `drop` is called exactly once, after the run, the cancel, the replacement or the close; a request that
// failed and is kept is not dropped before it has left.
#include "requests.h"

static const lazy_config drops = { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_DROP };
static const lazy_config continues = { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_CONTINUE };
static const lazy_config sticky = { .size = sizeof(lazy_config), .on_failure = LAZY_FAIL_STICKY };

static void check_run_and_kept(void) {
    static lazy_once once;
    job good = { 0 }, bad = { .failures = 2 }, behind = { 0 };
    queue_job(&once, &good);
    queue_job(&once, &bad);
    queue_job(&once, &behind);
    for (int i = 1; i <= 2; i++) {
        CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
        CHECK_JOB(good, 1, 1);
        CHECK_JOB(bad, i, 0);
        CHECK_JOB(behind, 0, 0);
    }
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_JOB(bad, 3, 1);
    CHECK_JOB(behind, 1, 1);

    job now = { 0 }, fails_now = { .failures = 1 };
    lazy_request request = request_for(&now), failing = request_for(&fails_now);
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_OK); /* READY */
    CHECK_JOB(now, 1, 1);
    CHECK_IS(lazy_once_submit(&once, &failing, NULL), LAZY_E_CALLBACK);
    CHECK_JOB(fails_now, 1, 1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_JOB(good, 1, 1);
}
static void check_failed_and_dropped(void) {
    static lazy_once once = LAZY_ONCE_WITH(&drops);
    job bad = { .failures = 9 };
    queue_job(&once, &bad);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_JOB(bad, 1, 1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_JOB(bad, 1, 1);
}
static void check_failed_and_continued(void) {
    static lazy_once once = LAZY_ONCE_WITH(&continues);
    job bad = { .failures = 1 }, behind = { 0 };
    queue_job(&once, &bad);
    queue_job(&once, &behind);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_JOB(bad, 1, 0);
    CHECK_JOB(behind, 1, 1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_JOB(bad, 2, 1);
    CHECK_JOB(behind, 1, 1);
}
static void check_sticky(void) {
    static lazy_once once = LAZY_ONCE_WITH(&sticky);
    job bad = { .failures = 1 }, behind = { 0 }, withdrawn = { 0 };
    queue_job(&once, &bad);
    queue_job(&once, &behind);
    uint64_t ticket = queue_job(&once, &withdrawn);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_JOB(bad, 1, 0);
    CHECK_JOB(behind, 0, 0);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_OK); /* what is queued can still be withdrawn */
    CHECK_JOB(withdrawn, 0, 1);
    for (int i = 0; i < 2; i++) CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_JOB(bad, 1, 1);
    CHECK_JOB(behind, 0, 1);
    CHECK_JOB(withdrawn, 0, 1);
}
static void check_withdrawn(void) {
    static lazy_once once;
    job cancelled = { 0 }, replaced = { 0 }, mine[3] = { { 0 }, { 0 }, { 0 } }, closed[2] = { { .failures = 1 }, { 0 } };
    lazy_request request = request_for(&replaced);
    CHECK_IS(lazy_once_cancel(&once, queue_job(&once, &cancelled)), LAZY_OK);
    CHECK_JOB(cancelled, 0, 1);
    request.key = 1;
    queue_request(&once, request);
    for (int i = 0; i < 3; i++) {
        request = request_for(&mine[i]);
        request.key = i == 0;
        request.owner = mine;
        queue_request(&once, request);
    }
    CHECK_JOB(replaced, 0, 1);
    CHECK_IS(lazy_once_cancel_owner(&once, mine), 3);
    for (int i = 0; i < 3; i++) CHECK_JOB(mine[i], 0, 1);
    for (int i = 0; i < 2; i++) queue_job(&once, &closed[i]);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_JOB(closed[0], 1, 0);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_JOB(closed[0], 1, 1);
    CHECK_JOB(closed[1], 0, 1);
    CHECK_JOB(cancelled, 0, 1);
    CHECK_JOB(replaced, 0, 1);
}
static void check_reset_keeps_the_queue(void) {
    static lazy_once once;
    job kept = { 0 };
    queue_job(&once, &kept);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_JOB(kept, 0, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_JOB(kept, 1, 1);
}

int main(void) {
    check_run_and_kept();
    check_failed_and_dropped();
    check_failed_and_continued();
    check_sticky();
    check_withdrawn();
    check_reset_keeps_the_queue();
    return finish();
}
