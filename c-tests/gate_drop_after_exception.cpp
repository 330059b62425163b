// Guards against a context that leaks, or is released twice, when its request throws: queued, the request has failed and the
// policy applies (KEEP keeps it undropped, DROP and a cancel let it go); run at once, `drop` is called before the exception is
// caught. A thread that cancels the throwing request is released too.
#include "requests.h"

static const lazy_config keeps_config = { sizeof(lazy_config), "keeps", 0, 0, 0, 0, 0, 0, LAZY_DEFERRED_KEEP, 0, 0, 0 };
static const lazy_config drops_config = { sizeof(lazy_config), "drops", 0, 0, 0, 0, 0, 0, LAZY_DEFERRED_DROP, 0, 0, 0 };
static const lazy_config goes_on_config = { sizeof(lazy_config), "goes", 0, 0, 0, 0, 0, 0, LAZY_DEFERRED_CONTINUE, 0, 0, 0 };
static lazy_once keeps = LAZY_ONCE_WITH(&keeps_config), drops = LAZY_ONCE_WITH(&drops_config),
                 goes_on = LAZY_ONCE_WITH(&goes_on_config), cancelled = LAZY_ONCE_INIT;
static gate running = GATE_INIT;
static int canceller;
static uint64_t cancelled_ticket;

struct refused { int code; };

static int32_t throwing(void *ctx) {
    if (run_job(ctx) != 0) throw refused{17};
    return 0;
}
static int32_t throwing_when_cancelled(void *ctx) {
    gate_open(&running);
    while (!COUNT(canceller)) sched_yield();
    until_asleep(COUNT(canceller));
    return throwing(ctx);
}
static lazy_request throwing_request(job *j) {
    lazy_request request = request_for(j);
    request.fn = throwing;
    return request;
}
static void check_throws(lazy_once *once, const lazy_request *request) {
    int code = 0;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    try {
        if (request) lazy_once_submit(once, request, &receipt);
        else lazy_once_init(once);
    } catch (const refused &error) {
        code = error.code;
        if (request) CHECK_IS(static_cast<job *>(request->ctx)->dropped, 1);
    }
    CHECK_IS(code, 17);
}
static int32_t throws_inside(void *ctx) {
    job inner = { 0, 1, 0, 0, 0 };
    lazy_request request = throwing_request(&inner);
    check_throws(static_cast<lazy_once *>(ctx), &request);
    CHECK_JOB(inner, 1, 1);
    CHECK(lazy_once_is_initializing(static_cast<lazy_once *>(ctx)));
    return 0;
}
static void *cancelling(void *) {
    gate_wait(&running);
    SET(canceller, thread_id());
    CHECK_IS(lazy_once_cancel(&cancelled, cancelled_ticket), LAZY_E_NOT_FOUND);
    return nullptr;
}

int main() {
    static job kept = { 0, 1, 0, 0, 0 }, gone = { 0, 9, 0, 0, 0 }, bad = { 0, 1, 0, 0, 0 }, behind,
               unwanted = { 0, 9, 0, 0, 0 };
    lazy_request request = LAZY_REQUEST_INIT;
    queue_request(&keeps, throwing_request(&kept));
    request.fn = throws_inside;
    request.ctx = &keeps;
    queue_request(&keeps, request);
    check_throws(&keeps, nullptr);
    CHECK_JOB(kept, 1, 0);
    CHECK_IS(lazy_once_init(&keeps), LAZY_OK);
    CHECK_JOB(kept, 2, 1);
    job now = { 0, 1, 0, 0, 0 };
    request = throwing_request(&now);
    check_throws(&keeps, &request); /* READY */
    CHECK_JOB(now, 1, 1);
    CHECK(lazy_once_is_initialized(&keeps));

    queue_request(&drops, throwing_request(&gone));
    check_throws(&drops, nullptr);
    CHECK_JOB(gone, 1, 1);
    CHECK_IS(lazy_once_init(&drops), LAZY_OK);
    CHECK_JOB(gone, 1, 1);

    queue_request(&goes_on, throwing_request(&bad));
    queue_job(&goes_on, &behind);
    check_throws(&goes_on, nullptr);
    CHECK_JOB(bad, 1, 0);
    CHECK(!lazy_once_is_initialized(&goes_on));
    CHECK_IS(lazy_once_init(&goes_on), LAZY_OK);
    CHECK_JOB(bad, 2, 1);
    CHECK_JOB(behind, 1, 1);

    request = throwing_request(&unwanted);
    request.fn = throwing_when_cancelled;
    cancelled_ticket = queue_request(&cancelled, request);
    pthread_t thread = start(cancelling, nullptr);
    check_throws(&cancelled, nullptr);
    join(thread);
    CHECK_JOB(unwanted, 1, 1);
    CHECK_IS(lazy_once_init(&cancelled), LAZY_OK);
    CHECK_JOB(unwanted, 1, 1);
    return finish();
}
