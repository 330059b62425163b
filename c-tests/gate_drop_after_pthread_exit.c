// flags: -fexceptions
// Guards against a context that leaks, or is released twice, when the thread ends inside its request: queued, the request has
// failed and the policy applies; run at once, it is dropped. A thread that cancels it sleeps no longer than the request.
#include "requests.h"

static const lazy_config keeps_config = { .size = sizeof(lazy_config) };
static const lazy_config drops_config = { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_DROP };
static lazy_once keeps = LAZY_ONCE_WITH(&keeps_config), drops = LAZY_ONCE_WITH(&drops_config), ready, cancelled;
static job kept = { .failures = 1 }, gone = { .failures = 9 }, now = { .failures = 1 }, unwanted = { .failures = 9 };
static gate running = GATE_INIT;
static int canceller;
static uint64_t ticket;

static int32_t leaves(void *ctx) {
    if (run_job(ctx) != 0) pthread_exit((void *)"left");
    return 0;
}
static int32_t leaves_when_cancelled(void *ctx) {
    gate_open(&running);
    while (!COUNT(canceller)) sched_yield();
    until_asleep(COUNT(canceller));
    return leaves(ctx);
}
static lazy_request leaving(job *j) {
    lazy_request request = request_for(j);
    request.fn = leaves;
    return request;
}
static void *ends_in_drain(void *once) {
    lazy_once_init((lazy_once *)once);
    CHECK(!"the thread came back");
    return NULL;
}
static void *ends_at_once(void *once) {
    lazy_request request = leaving(&now);
    lazy_once_submit((lazy_once *)once, &request, NULL);
    CHECK(!"the thread came back");
    return NULL;
}
static void *cancels(void *ctx) {
    (void)ctx;
    gate_wait(&running);
    SET(canceller, thread_id());
    CHECK_IS(lazy_once_cancel(&cancelled, ticket), LAZY_E_NOT_FOUND);
    CHECK_JOB(unwanted, 1, 1);
    return NULL;
}
static void ends(void *(*body)(void *), lazy_once *once) {
    CHECK(!strcmp((const char *)join(start(body, once)), "left"));
}

int main(void) {
    queue_request(&keeps, leaving(&kept));
    ends(ends_in_drain, &keeps);
    CHECK_JOB(kept, 1, 0);
    CHECK_IS(lazy_once_init(&keeps), LAZY_OK);
    CHECK_JOB(kept, 2, 1);

    queue_request(&drops, leaving(&gone));
    ends(ends_in_drain, &drops);
    CHECK_JOB(gone, 1, 1);
    CHECK_IS(lazy_once_init(&drops), LAZY_OK);
    CHECK_JOB(gone, 1, 1);

    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    ends(ends_at_once, &ready);
    CHECK_JOB(now, 1, 1);

    lazy_request request = leaving(&unwanted);
    request.fn = leaves_when_cancelled;
    ticket = queue_request(&cancelled, request);
    pthread_t thread = start(cancels, NULL);
    ends(ends_in_drain, &cancelled);
    join(thread);
    CHECK_IS(lazy_once_init(&cancelled), LAZY_OK);
    CHECK_JOB(unwanted, 1, 1);
    return finish();
}
