// preload: failing_malloc.c
// not-under: asan tsan valgrind: the tool has an allocator of its own, which does not refuse
// Guards against an abort, or a request that is half taken, when memory runs out: with the allocator refusing at each call in
// turn, submit takes a request whole or answers LAZY_E_NOMEM, drops nothing and replaces nothing; cancel and cancel_owner need
// no memory, and what was taken runs once. An error that there is no memory to describe still has its status.
#include "requests.h"
#include <dlfcn.h>

enum { many = 300 };
static void (*allocations_left)(long);
static char owner;
static job jobs[many];
static int taken[many];
static uint64_t tickets[many];

/* Every kind of request there is, in turn; two in fourteen share a key. */
static lazy_request nth(int i) {
    lazy_request request = request_for(&jobs[i]);
    if (i % 7 == 1) request.owner = &owner;
    if (i % 7 == 2) request.phase = i % 5 - 2;
    if (i % 7 == 3) request.key = 1 + (uint64_t)i / 14;
    return request;
}
static int replaced_by(int i) {
    uint64_t key = nth(i).key;
    for (int j = i - 1; key && j >= 0; j--)
        if (nth(j).key == key && taken[j]) return j;
    return -1;
}
/* Submits all, with `most` allocations for it; says whether memory ran out. */
static int with(long most) {
    lazy_once once = LAZY_ONCE_INIT;
    uint64_t expected = 0;
    int short_of = 0, owned = 0, last = -1;
    memset(jobs, 0, sizeof jobs);
    allocations_left(most);
    for (int i = 0; i < many; i++) {
        lazy_request request = nth(i);
        lazy_receipt receipt = LAZY_RECEIPT_INIT;
        int replaced = replaced_by(i);
        lazy_status status = lazy_once_submit(&once, &request, &receipt);
        if (status != LAZY_QUEUED) CHECK_IS(status, LAZY_E_NOMEM);
        taken[i] = status == LAZY_QUEUED;
        tickets[i] = receipt.ticket;
        short_of |= !taken[i];
        if (!taken[i]) CHECK_IS(lazy_last_error()->status, LAZY_E_NOMEM);
        if (replaced >= 0) CHECK_JOB(jobs[replaced], 0, taken[i]);
        if (taken[i]) last = i;
        expected += taken[i] && replaced < 0;
        owned += taken[i] && request.owner;
        CHECK_JOB(jobs[i], 0, 0);
        CHECK_IS(queued_in(&once), expected);
    }
    if (most >= 0) allocations_left(0);
    CHECK_IS(lazy_once_cancel_owner(&once, &owner), owned);
    CHECK_IS(lazy_once_cancel(&once, UINT64_MAX), LAZY_E_NOT_FOUND);
    if (last >= 0) CHECK_IS(lazy_once_cancel(&once, tickets[last]), nth(last).owner ? LAZY_E_NOT_FOUND : LAZY_OK);
    allocations_left(-1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    job now = { 0 };
    lazy_request at_once = request_for(&now);
    allocations_left(0); /* on READY there is nothing to allocate */
    CHECK_IS(lazy_once_submit(&once, &at_once, NULL), LAZY_OK);
    allocations_left(-1);
    CHECK_JOB(now, 1, 1);
    for (int i = 0; i < many; i++) {
        CHECK_IS(jobs[i].dropped, taken[i]);
        int withdrawn = nth(i).owner || i == last;
        for (int j = i + 1; j < many; j++) withdrawn |= nth(i).key && nth(j).key == nth(i).key && taken[j];
        CHECK_IS(jobs[i].ran, taken[i] && !withdrawn);
    }
    return short_of;
}

int main(void) {
    lazy_once warm_up = LAZY_ONCE_INIT;
    *(void **)&allocations_left = dlsym(RTLD_DEFAULT, "allocations_left");
    CHECK(allocations_left != NULL);
    CHECK_IS(lazy_once_submit(&warm_up, NULL, NULL), LAZY_E_INVALID); /* what a thread's first failure needs is there */
    allocations_left(0);
    CHECK_IS(lazy_once_submit(&warm_up, NULL, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK(lazy_last_error()->message != NULL);
    allocations_left(-1);
    long most = 0;
    while (with(most)) most++;
    CHECK(most > 3); /* it did run out, in more than one place */
    CHECK(!with(-1));
    return finish();
}
