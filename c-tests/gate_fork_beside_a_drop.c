// not-under: tsan asan valgrind: what a thread that is gone in the child held there is not freed, as documented
// Guards against a child that runs a request again, or drops it a second time, or waits for it for ever, because the parent forked
// while another thread was in its `drop`: in a drain, in a cancel, and on a once that has become ready meanwhile.
#include "check.h"
#include "forked_child.h"
#include <stdatomic.h>

static lazy_once *once;
static int owner;
static gate in_drop, go;
static atomic_int ran, dropped;
static uint64_t ticket;
static int32_t run(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&ran, 1);
    return 0;
}
static void drop(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&dropped, 1)) return;
    gate_open(&in_drop);
    gate_wait(&go);
}
static void *cancels(void *ctx) {
    CHECK_IS(lazy_once_cancel(once, ticket), LAZY_OK);
    return ctx;
}
static void *drains(void *ctx) {
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    return ctx;
}
static void child(void) {
    int before = atomic_load(&ran);
    CHECK_IS(lazy_once_cancel(once, ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_cancel_owner(once, &owner), 0);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), before);
    CHECK_IS(atomic_load(&dropped), 1);
}
static void check(void *(*thread)(void *), int ready) {
    static lazy_once onces[4];
    static int next;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    once = &onces[next++];
    in_drop = go = (gate)GATE_INIT;
    atomic_store(&dropped, 0);
    request.fn = run;
    request.drop = drop;
    request.owner = &owner;
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_QUEUED);
    ticket = receipt.ticket;
    pthread_t other = start(thread, NULL);
    gate_wait(&in_drop);
    if (ready) CHECK_IS(lazy_once_init(once), LAZY_OK);
    in_child(child);
    gate_open(&go);
    join(other);
    CHECK_IS(atomic_load(&dropped), 1);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
}

int main(void) {
    check(drains, 0);
    check(cancels, 0);
    check(cancels, 1);
    return finish();
}
