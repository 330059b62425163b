// Guards against a drain that goes wrong only in some mixture: while requests of every kind run, they fail, cancel others and
// themselves, run keyed ones inline, and another thread hands in more with NO_WAIT. The one that runs is always the one that a
// model picks, what fails is kept or not as each policy says, and each request is dropped once.
#include "requests.h"

enum { most = 160, none = 0, pending, running, failed, gone };
static const lazy_config configs[] = { { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_KEEP },
                                       { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_DROP },
                                       { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_CONTINUE } };
static struct entry { job job; int state, initial, plain, unwanted; int32_t phase; uint64_t key, ticket; } entries[most];
static lazy_once *once;
static uint32_t policy;
static int size, attempt_failed, cut_off;
static uint64_t seed = 88172645463325252u;

static int draw(int below) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (int)((seed >> 33) % (uint64_t)below);
}
static int waits(const struct entry *e) {
    return e->state == pending || e->state == failed;
}
static void replace(uint64_t key) {
    for (int i = 0; key && i < size; i++)
        if (entries[i].key == key && waits(&entries[i])) entries[i].state = gone;
}
static struct entry *next_one(void) {
    struct entry *best = NULL;
    for (int i = 0; i < size; i++)
        if (entries[i].state == pending && (!best || entries[i].phase < best->phase)) best = &entries[i];
    return best;
}
static int32_t run_entry(void *ctx);
static void *hands_in(void *in_drain) {
    struct entry *e = &entries[size];
    lazy_request request = request_for(&e->job); /* the job is the first member */
    e->plain = !in_drain && draw(3) == 0;
    e->job.failures = draw(12) == 0 ? 1 + draw(2) : 0;
    request.fn = run_entry;
    request.flags = LAZY_REQUEST_NO_WAIT;
    if (!e->plain) request.phase = e->phase = draw(4) - 1;
    if (!e->plain) request.key = e->key = draw(2) ? 0 : 1 + (uint64_t)draw(9);
    if (in_drain && cut_off) {
        CHECK_IS(lazy_once_submit(once, &request, NULL), LAZY_E_NOT_NOW);
        memset(e, 0, sizeof *e);
        return NULL;
    }
    replace(e->key);
    size++;
    e->state = pending;
    if (e->plain) CHECK_IS(lazy_once_call(once, run_entry, e), LAZY_QUEUED);
    else e->ticket = queue_request(once, request);
    return NULL;
}
static void cancel(struct entry *e) {
    if (e->plain) return;
    CHECK_IS(lazy_once_cancel(once, e->ticket),
             waits(e) ? LAZY_OK : e->state == running ? LAZY_IN_PROGRESS : LAZY_E_NOT_FOUND);
    if (e->state == running) e->unwanted = 1;
    else e->state = gone;
}
static void run_inline(void) {
    job j = { 0 };
    lazy_request request = request_for(&j);
    request.key = 1 + (uint64_t)draw(9);
    CHECK_IS(lazy_once_submit(once, &request, NULL), LAZY_OK);
    CHECK_JOB(j, 1, 1);
    replace(request.key);
}
static int32_t run_entry(void *ctx) {
    struct entry *e = ctx;
    CHECK(e == next_one());
    e->state = running;
    int begun = 0;
    for (int i = 0; i < size; i++) begun |= entries[i].initial && (entries[i].state == pending || &entries[i] == e);
    cut_off |= !begun; /* what was queued when the drain began has run, or has left otherwise */
    if (draw(4) == 0) cancel(&entries[draw(size)]);
    if (draw(6) == 0) run_inline();
    if (size < most && draw(4) == 0) join(start(hands_in, once));
    if (run_job(ctx) == 0) return e->state = gone, 0;
    int replaced = 0;
    for (int i = 0; e->key && i < size; i++) replaced |= entries[i].key == e->key && entries[i].state == pending;
    e->state = e->unwanted || replaced || policy == LAZY_DEFERRED_DROP ? gone
               : policy == LAZY_DEFERRED_CONTINUE                     ? failed
                                                                      : pending;
    attempt_failed = 1;
    return 7;
}
static void check_round(void) {
    policy = (uint32_t)draw(3);
    lazy_once storage = LAZY_ONCE_WITH(&configs[policy]);
    once = &storage;
    memset(entries, 0, sizeof entries);
    size = 0;
    for (int i = draw(40); i >= 0; i--) hands_in(NULL);
    do {
        for (int i = 0; i < size; i++) {
            if (entries[i].state == failed) entries[i].state = pending;
            entries[i].initial = entries[i].state == pending;
        }
        attempt_failed = cut_off = 0;
        lazy_status status = lazy_once_init(once);
        CHECK_IS(status, attempt_failed ? LAZY_E_DEFERRED : LAZY_OK);
        CHECK(attempt_failed || !next_one());
    } while (attempt_failed);
    for (int i = 0; i < size; i++) CHECK_IS(entries[i].job.dropped, !entries[i].plain);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
}

int main(void) {
    for (long round = rounds(3000); round > 0; round--) check_round();
    return finish();
}
