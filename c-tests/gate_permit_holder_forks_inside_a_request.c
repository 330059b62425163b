// Guards against a child that goes on inside what a worker ran under its permit, and there frees, ends or hangs on what
// the parent's attempt owns: the request returns as it would, the right is gone, and the child starts over with the
// queue, the initializer's success and the request that the parent's initializing thread was running.
#include "forked_child.h"
#include "waiters.h"

static lazy_once once;
static lazy_permit permit;
static pid_t child = -1;
static atomic_int initialized, drained, dropped;

static int32_t forks(void *ctx) {
    (void)ctx;
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) alarm(20);
    CHECK_IS(lazy_once_is_initializing(&once), child != 0);
    return 0;
}
static void drop(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&dropped, 1);
}
static void go_on_in_child(void) {
    CHECK_IS(lazy_permit_enter(&permit), LAZY_E_NOT_FOUND);
    CHECK_IS(wait_in_call(&once), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&drained), 2);
    CHECK_IS(atomic_load(&handed_in_ran), 2);
    _exit(0);
}
static void *worker(void *ctx) {
    (void)ctx;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = forks;
    request.drop = drop;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK_IS(lazy_once_submit(&once, &request, &receipt), LAZY_OK);
    CHECK_IS(receipt.outcome, LAZY_RAN_REENTRANT);
    CHECK_IS(atomic_load(&dropped), 1);
    lazy_status left = lazy_permit_leave(&permit);
    if (child == 0) go_on_in_child();
    CHECK_IS(left, LAZY_OK);
    check_child(child);
    return NULL;
}
static int32_t drains(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&drained, 1) > 0) return 0;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    join(start(worker, NULL));
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&initialized, 1);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_call(&once, drains, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, handed_in, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    CHECK_IS(atomic_load(&drained), 1);
    CHECK_IS(atomic_load(&handed_in_ran), 1);
    return finish();
}
