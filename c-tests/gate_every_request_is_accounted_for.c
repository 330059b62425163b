// Guards against a request that is lost, run twice, or released twice in some interleaving: four threads hand in requests of
// every kind and cancel some, while one drains, resets and drains again, under each policy, and in the end closes under their
// hands. What was taken is dropped once; it succeeded once, unless it was cancelled, replaced, closed away or allowed to fail.
// After an owner's cancel_owner nothing of that owner is left.
#include "requests.h"

enum { submitters = 4, most = 8000, closing = 4, modes };
static const lazy_config configs[modes] = {
    { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_KEEP },
    { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_DROP },
    { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_CONTINUE },
    { .size = sizeof(lazy_config), .contended = LAZY_CONTENDED_QUEUE },
    { .size = sizeof(lazy_config), .contended = LAZY_CONTENDED_QUEUE },
};
static lazy_once onces[modes] = { LAZY_ONCE_WITH(&configs[0]), LAZY_ONCE_WITH(&configs[1]), LAZY_ONCE_WITH(&configs[2]),
                                  LAZY_ONCE_WITH(&configs[3]), LAZY_ONCE_WITH(&configs[4]) };
static struct entry { job job; int taken, withdrawn, keyed, fails; } entries[submitters][most];
static lazy_once *once;
static int running;
static long total, submitted;
static char owners[submitters];

static unsigned draw(uint64_t *seed, unsigned below) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return (unsigned)(*seed >> 33) % below;
}
static lazy_status submit(int number, struct entry *e, uint64_t *seed) {
    lazy_request request = request_for(&e->job);
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    e->job.failures = e->fails = draw(seed, 64) == 0;
    request.phase = (int32_t)draw(seed, 3) - 1;
    request.flags = draw(seed, 2) ? LAZY_REQUEST_NO_WAIT : 0;
    request.owner = &owners[number];
    e->keyed = draw(seed, 4) == 0;
    if (e->keyed) request.key = 1 + draw(seed, 3);
    lazy_status status = lazy_once_submit(once, &request, &receipt);
    e->taken = status >= 0 || status == LAZY_E_CALLBACK;
    if (!e->taken && status != LAZY_E_NOT_NOW) CHECK_IS(status, LAZY_E_CLOSED);
    if (status == LAZY_E_CALLBACK) CHECK(e->fails);
    if (status != LAZY_QUEUED) CHECK_JOB(e->job, e->taken, e->taken);
    CHECK_IS(receipt.ticket != 0, status == LAZY_QUEUED);
    if (status == LAZY_QUEUED && draw(seed, 4) == 0) {
        lazy_status cancelled = lazy_once_cancel(once, receipt.ticket);
        if (cancelled != LAZY_OK) CHECK_IS(cancelled, LAZY_E_NOT_FOUND);
        e->withdrawn = cancelled == LAZY_OK;
        CHECK_IS(COUNT(e->job.dropped), 1);
    }
    return status;
}
static void *submits(void *ctx) {
    int number = (int)(intptr_t)ctx;
    uint64_t seed = 88172645463325252u + (uint64_t)number * 7919;
    lazy_status status = LAZY_OK;
    for (long i = 0, first = 0; i < total && status != LAZY_E_CLOSED; i++) {
        status = submit(number, &entries[number][i], &seed);
        ADD(submitted, 1);
        if (i % 500 != 499) continue;
        CHECK(lazy_once_cancel_owner(once, &owners[number]) <= 500);
        for (; first <= i; first++) {
            struct entry *e = &entries[number][first];
            CHECK_IS(COUNT(e->job.dropped), e->taken);
            e->withdrawn |= COUNT(e->job.ran) == 0;
        }
    }
    ADD(running, -1);
    return NULL;
}
static void check_entry(const struct entry *e, int closed) {
    int succeeded = e->job.ran - (e->fails - e->job.failures);
    CHECK_IS(e->job.dropped, e->taken);
    CHECK(succeeded == 0 || succeeded == 1);
    if (!e->taken || e->withdrawn) CHECK_IS(succeeded, 0);
    else if (!e->keyed && !e->fails && !closed) CHECK_IS(succeeded, 1);
}
static void check_mode(int mode) {
    pthread_t threads[submitters];
    once = &onces[mode];
    memset(entries, 0, sizeof entries);
    running = submitters;
    submitted = 0;
    for (intptr_t i = 0; i < submitters; i++) threads[i] = start(submits, (void *)i);
    for (long round = 0; COUNT(running) > 0; round++) {
        lazy_status status = lazy_once_init(once);
        if (mode == closing && COUNT(submitted) > total * submitters / 2) CHECK_IS(lazy_once_close(once), LAZY_OK);
        if (status != LAZY_OK && status != LAZY_E_CLOSED) CHECK_IS(status, LAZY_E_DEFERRED);
        sched_yield(); /* some of them meet a ready once */
        if (round % 2 && status != LAZY_E_CLOSED) lazy_once_reset(once);
    }
    for (int i = 0; i < submitters; i++) join(threads[i]);
    lazy_status status;
    while ((status = lazy_once_init(once)) == LAZY_E_DEFERRED) {}
    if (mode == closing) CHECK_IS(lazy_once_close(once), LAZY_OK);
    for (int i = 0; i < submitters; i++)
        for (long j = 0; j < total; j++) check_entry(&entries[i][j], status == LAZY_E_CLOSED);
}

int main(void) {
    total = rounds(most);
    for (int mode = 0; mode < modes; mode++) check_mode(mode);
    return finish();
}
