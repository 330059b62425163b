// Guards against an exception out of `drop` that is swallowed, calls it again, or breaks the queue: it comes out of the call
// that runs it, the dropped request is gone, and the others go the way they would have gone, each dropped once.
#include "requests.h"

static int thrown;
struct refused {};

static void throwing_drop(void *ctx) {
    drop_job(ctx);
    ADD(thrown, 1);
    throw refused{};
}
template <class Call> static void check_throws(Call call) {
    int before = COUNT(thrown);
    bool caught = false;
    try {
        call();
    } catch (const refused &) {
        caught = true;
    }
    CHECK(caught);
    CHECK_IS(COUNT(thrown), before + 1);
}
static uint64_t queue_throwing(lazy_once *once, job *j, uint64_t key = 0) {
    lazy_request request = request_for(j);
    request.drop = throwing_drop;
    request.owner = &thrown;
    request.key = key;
    return queue_request(once, request);
}

int main() {
    static lazy_once once, closed;
    static job cancelled, owned[2], replaced, newer, ran, behind, now, left[2], last;
    uint64_t ticket = queue_throwing(&once, &cancelled);
    check_throws([&] { lazy_once_cancel(&once, ticket); });
    CHECK_JOB(cancelled, 0, 1);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_E_NOT_FOUND);

    queue_throwing(&once, &owned[0]);
    queue_throwing(&once, &owned[1]);
    check_throws([] { lazy_once_cancel_owner(&once, &thrown); });
    CHECK_IS(owned[0].dropped + owned[1].dropped, 1);
    check_throws([] { lazy_once_cancel_owner(&once, &thrown); });
    CHECK_JOB(owned[0], 0, 1);
    CHECK_JOB(owned[1], 0, 1);
    CHECK_IS(lazy_once_cancel_owner(&once, &thrown), 0);

    queue_throwing(&once, &replaced, 3);
    lazy_request request = request_for(&newer);
    request.key = 3;
    check_throws([&] { lazy_once_submit(&once, &request, nullptr); });
    CHECK_JOB(replaced, 0, 1);
    queue_throwing(&once, &ran);
    queue_job(&once, &behind);
    check_throws([] { lazy_once_init(&once); });
    CHECK_JOB(ran, 1, 1);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK(!lazy_once_is_initialized(&once)); /* an attempt that unwound has failed */
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_JOB(ran, 1, 1);
    CHECK_JOB(behind, 1, 1);
    CHECK_JOB(newer, newer.dropped, newer.ran); /* taken or not, but not half */

    request = request_for(&now);
    request.drop = throwing_drop;
    check_throws([&] { lazy_once_submit(&once, &request, nullptr); });
    CHECK_JOB(now, 1, 1);

    queue_throwing(&closed, &left[0]);
    queue_throwing(&closed, &left[1]);
    queue_job(&closed, &last);
    check_throws([] { lazy_once_close(&closed); });
    CHECK_IS(lazy_once_call(&closed, run_job, &last), LAZY_E_CLOSED);
    check_throws([] { lazy_once_close(&closed); });
    CHECK_IS(lazy_once_close(&closed), LAZY_OK);
    CHECK_JOB(left[0], 0, 1);
    CHECK_JOB(left[1], 0, 1);
    CHECK_JOB(last, 0, 1);
    return finish();
}
