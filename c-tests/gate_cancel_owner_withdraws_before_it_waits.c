// Guards against cancel_owner that waits for the running request first, and so lets the drain start the owner's next one: it
// withdraws what is queued, then waits for the request that runs and for its `drop`; it counts only what it withdrew, and
// other owners' requests run. A second one at the same time finds nothing to withdraw and waits as well.
#include "requests.h"

static lazy_once once;
static char plugin, stranger;
static job mine[3], others[3];
static int cancellers[2], left;
static size_t counts[2];

static void *cancels(void *number) {
    SET(cancellers[(intptr_t)number], thread_id());
    counts[(intptr_t)number] = lazy_once_cancel_owner(&once, &plugin);
    CHECK_IS(COUNT(left), 1);
    return NULL;
}
static int32_t run(void *threads) {
    for (intptr_t i = 0; i < 2; i++) {
        ((pthread_t *)threads)[i] = start(cancels, (void *)i);
        while (!COUNT(cancellers[i])) sched_yield();
        until_asleep(COUNT(cancellers[i]));
        for (int j = 0; j < 3; j++) CHECK_JOB(mine[j], 0, 1); /* withdrawn already */
    }
    CHECK_IS(queued_in(&once), 3);
    return 0;
}
static void drop(void *ctx) {
    (void)ctx;
    for (int i = 0; i < 2; i++) until_asleep(COUNT(cancellers[i]));
    SET(left, 1);
}

int main(void) {
    pthread_t threads[2];
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run;
    request.ctx = threads;
    request.drop = drop;
    request.owner = &plugin;
    queue_request(&once, request);
    for (int i = 0; i < 3; i++) {
        request = request_for(&mine[i]);
        request.owner = &plugin;
        request.phase = i == 2 ? LAZY_PHASE_LAST : 0;
        queue_request(&once, request);
        request = request_for(&others[i]);
        request.owner = i ? &stranger : NULL;
        queue_request(&once, request);
    }
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    for (int i = 0; i < 2; i++) join(threads[i]);
    CHECK_IS(counts[0], 3);
    CHECK_IS(counts[1], 0);
    for (int i = 0; i < 3; i++) {
        CHECK_JOB(mine[i], 0, 1);
        CHECK_JOB(others[i], 1, 1);
    }
    return finish();
}
