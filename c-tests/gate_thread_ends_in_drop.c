// flags: -fexceptions
// Guards against a drop that runs twice, or a request that runs again, because a thread ended in the drop, by
// pthread_exit or cancelled: after a run on READY, in the drain, in a cancel, in a replacement by key and in a close. The
// once works on, the drain's waiters hear of a failed attempt, and the drops that a close still owed are made up for.
#include "thread_ends.h"
#include "waiters.h"

enum { REQUESTS = 3 };
static lazy_once once;
static ending end;
static atomic_int ran[REQUESTS], dropped[REQUESTS], left;
static uint64_t tickets[REQUESTS];

static int32_t run(void *number) {
    atomic_fetch_add(&ran[(intptr_t)number], 1);
    return 0;
}
static void drop(void *number) {
    atomic_fetch_add(&dropped[(intptr_t)number], 1);
    if ((intptr_t)number == 1 && atomic_fetch_add(&left, 1) == 0) end_here(&end);
}
static lazy_status submit(intptr_t number, uint64_t key) {
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run;
    request.ctx = (void *)number;
    request.drop = drop;
    request.key = key;
    lazy_status status = lazy_once_submit(&once, &request, &receipt);
    tickets[number] = receipt.ticket;
    return status;
}
static void *submits(void *ctx) {
    (void)ctx;
    submit(1, 0);
    CHECK(!"the thread came back");
    return NULL;
}
static void *drains(void *ctx) {
    (void)ctx;
    lazy_once_init(&once);
    CHECK(!"the thread came back");
    return NULL;
}
static void *cancels(void *ctx) {
    (void)ctx;
    lazy_once_cancel(&once, tickets[1]);
    CHECK(!"the thread came back");
    return NULL;
}
static void *replaces(void *ctx) {
    (void)ctx;
    submit(2, 5);
    CHECK(!"the thread came back");
    return NULL;
}
static void *closes(void *ctx) {
    (void)ctx;
    lazy_once_close(&once);
    CHECK(!"the thread came back");
    return NULL;
}
static void begin(way how) {
    for (int i = 0; i < REQUESTS; i++) {
        atomic_store(&ran[i], 0);
        atomic_store(&dropped[i], 0);
    }
    atomic_store(&left, 0);
    end = ENDING(how);
    once = (lazy_once)LAZY_ONCE_INIT;
}
static void all(const int runs[REQUESTS], int drops) {
    for (int i = 0; i < REQUESTS; i++) {
        CHECK_IS(atomic_load(&ran[i]), runs[i]);
        CHECK_IS(atomic_load(&dropped[i]), drops);
    }
}

int main(void) {
    for (int how = 0; how < WAYS; how++) {
        waiter bystander;
        begin((way)how);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        end_thread(&end, start(submits, NULL));
        CHECK_IS(submit(0, 0), LAZY_OK);
        CHECK_IS(submit(2, 0), LAZY_OK);
        all((const int[]){ 1, 1, 1 }, 1);

        begin((way)how);
        for (int i = 0; i < REQUESTS; i++) CHECK_IS(submit(i, 0), LAZY_QUEUED);
        pthread_t thread = start(drains, NULL);
        gate_wait(&end.inside);
        waiter_start(&bystander, &once, wait_in_init);
        waiter_asleep(&bystander);
        end_thread(&end, thread);
        waiter_saw_the_end(&bystander, LAZY_E_DEFERRED);
        CHECK(!lazy_once_is_initialized(&once));
        CHECK_IS(lazy_once_cancel(&once, tickets[1]), LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        all((const int[]){ 1, 1, 1 }, 1);

        begin((way)how);
        for (int i = 0; i < REQUESTS; i++) CHECK_IS(submit(i, 0), LAZY_QUEUED);
        end_thread(&end, start(cancels, NULL));
        CHECK_IS(lazy_once_cancel(&once, tickets[1]), LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        all((const int[]){ 1, 0, 1 }, 1);

        begin((way)how);
        CHECK_IS(submit(0, 0), LAZY_QUEUED);
        CHECK_IS(submit(1, 5), LAZY_QUEUED);
        end_thread(&end, start(replaces, NULL));
        CHECK_IS(lazy_once_cancel(&once, tickets[1]), LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        all((const int[]){ 1, 0, 1 }, 1); /* the replacement was queued */

        begin((way)how);
        for (int i = 0; i < REQUESTS; i++) CHECK_IS(submit(i, 0), LAZY_QUEUED);
        end_thread(&end, start(closes, NULL));
        CHECK_IS(lazy_once_init(&once), LAZY_E_CLOSED);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        all((const int[]){ 0, 0, 0 }, 1);
    }
    return finish();
}
