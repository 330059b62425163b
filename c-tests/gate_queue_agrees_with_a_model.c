// Guards against a queue that goes wrong only in some mixture: requests of random phases, keys, owners and kinds, some
// cancelled, some failing first, must run in exactly the order of a model with one sorted list, and each is dropped once.
#include "requests.h"

enum { most = 300, owners = 3 };
static const int32_t phases[] = { 0, 0, 0, -1, 1, LAZY_PHASE_LAST, INT32_MIN };
static struct entry { job job; int pending, taken, plain, phase, owner; uint64_t key, ticket; } entries[most];
static char owner_of[owners];
static int order[most], finished;
static uint64_t seed = 88172645463325252u;

static unsigned draw(unsigned below) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)(seed >> 33) % below;
}
static int32_t run_entry(void *ctx) {
    struct entry *e = ctx;
    int32_t result = run_job(&e->job);
    if (result == 0) order[finished++] = (int)(e - entries);
    return result;
}
static void submit(lazy_once *once, struct entry *e) {
    e->pending = e->taken = 1;
    e->job.failures = draw(40) == 0;
    if ((e->plain = draw(3) == 0)) {
        e->phase = 0, e->key = 0, e->owner = -1;
        CHECK_IS(lazy_once_call(once, run_entry, e), LAZY_QUEUED);
        return;
    }
    lazy_request request = request_for(&e->job); /* the job is the first member */
    request.fn = run_entry;
    request.phase = e->phase = phases[draw(sizeof phases / sizeof *phases)];
    request.key = e->key = draw(2) ? 0 : 1 + draw(12);
    e->owner = (int)draw(owners + 1) - 1;
    request.owner = e->owner < 0 ? NULL : &owner_of[e->owner];
    for (struct entry *old = entries; e->key && old < e; old++)
        if (old->key == e->key) old->pending = 0;
    e->ticket = queue_request(once, request);
}
static void cancel(lazy_once *once, struct entry *e) {
    if (!e->plain) CHECK_IS(lazy_once_cancel(once, e->ticket), e->pending ? LAZY_OK : LAZY_E_NOT_FOUND);
    if (!e->plain) e->pending = 0;
}
static void cancel_owner(lazy_once *once, int owner, int size) {
    size_t withdrawn = 0;
    for (int i = 0; i < size; i++)
        if (entries[i].owner == owner && entries[i].pending) entries[i].pending = 0, withdrawn++;
    CHECK_IS(lazy_once_cancel_owner(once, &owner_of[owner]), withdrawn);
}
static void check_order(int size) {
    int at = 0;
    for (int p = 0; p < 5; p++) {
        static const int32_t ascending[] = { INT32_MIN, -1, 0, 1, LAZY_PHASE_LAST };
        for (int i = 0; i < size; i++)
            if (entries[i].pending && entries[i].phase == ascending[p]) {
                CHECK(at < finished);
                CHECK_IS(order[at], i);
                at++;
            }
    }
    CHECK_IS(finished, at);
}

int main(void) {
    for (long round = rounds(1000); round > 0; round--) {
        lazy_once once = LAZY_ONCE_INIT;
        int size = 1 + (int)draw(most), failures = 0;
        memset(entries, 0, sizeof entries);
        finished = 0;
        for (int i = 0; i < size; i++) {
            submit(&once, &entries[i]);
            if (draw(6) == 0) cancel(&once, &entries[draw(i + 1)]);
            if (draw(60) == 0) cancel_owner(&once, (int)draw(owners), i + 1);
        }
        int pending = 0;
        for (int i = 0; i < size; i++) {
            pending += entries[i].pending;
            failures += entries[i].pending && entries[i].job.failures;
        }
        CHECK_IS(queued_in(&once), pending);
        for (; failures > 0; failures--) CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        check_order(size);
        for (int i = 0; i < size; i++) CHECK_IS(entries[i].job.dropped, !entries[i].plain);
    }
    return finish();
}
