// flags: -fexceptions
// Guards against a drain whose thread ends, by pthread_exit or cancelled, in what it runs: waiters hear LAZY_E_DEFERRED
// with code 0 and the ticket and place of that request, which is kept or dropped as configured and released once; what
// ran is not run again, what was behind it is not lost, and the initializer's success is remembered.
#include "thread_ends.h"
#include "waiters.h"

static lazy_once once;
static ending end;
static atomic_int initialized, left, dropped, before, behind;
static lazy_receipt receipt;
static uint32_t line;

static int32_t count(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
    return 0;
}
static void drop(void *counter) {
    CHECK(counter == &left);
    atomic_fetch_add(&dropped, 1);
}
static int32_t leaves(void *counter) {
    count(counter);
    if (atomic_load(&left) > 1) return 0;
    end_here(&end);
}
static void *ending_thread(void *ctx) {
    (void)ctx;
    lazy_once_init(&once);
    CHECK(!"the thread came back");
    return NULL;
}
static void queue(bool plain) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = leaves;
    request.ctx = &left;
    request.drop = drop;
    request.site = LAZY_HERE;
    line = request.site.line;
    receipt = (lazy_receipt)LAZY_RECEIPT_INIT;
    CHECK_IS(lazy_once_call(&once, count, &before), LAZY_QUEUED);
    CHECK_IS(plain ? lazy_once_call(&once, leaves, &left) : lazy_once_submit(&once, &request, &receipt), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, count, &behind), LAZY_QUEUED);
}
static void end_one(way how, uint32_t policy, bool plain) {
    waiter waiting, calling;
    bool kept = policy != LAZY_DEFERRED_DROP;
    lazy_config config = { .size = sizeof config, .name = "left", .initialize = count, .ctx = &initialized,
                           .on_deferred_failure = policy };
    atomic_int *counters[] = { &initialized, &left, &dropped, &before, &behind, &handed_in_ran };
    for (int i = 0; i < 6; i++) atomic_store(counters[i], 0);
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    end = ENDING(how);
    queue(plain);
    pthread_t thread = start(ending_thread, NULL);
    gate_wait(&end.inside);
    waiter_start(&waiting, &once, wait_in_init);
    waiter_start(&calling, &once, wait_in_call);
    waiter_asleep(&waiting);
    waiter_asleep(&calling);
    CHECK_IS(atomic_load(&dropped), 0);
    end_thread(&end, thread);
    waiter_saw_the_end(&waiting, LAZY_E_DEFERRED);
    CHECK_IS(waiter_join(&calling), LAZY_QUEUED);
    if (!plain) {
        CHECK_IS(waiting.ticket, receipt.ticket);
        CHECK_IS(waiting.line, line);
    }
    CHECK_IS(atomic_load(&dropped), !plain && !kept);
    CHECK_IS(atomic_load(&left), 1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&left), kept ? 2 : 1);
    CHECK_IS(atomic_load(&dropped), !plain);
    CHECK_IS(atomic_load(&before), 1);
    CHECK_IS(atomic_load(&behind), 1);
    CHECK_IS(atomic_load(&handed_in_ran), 1);
    CHECK_IS(atomic_load(&initialized), 1);
    if (!plain) CHECK_IS(lazy_once_cancel(&once, receipt.ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_IS(atomic_load(&dropped), !plain);
}

int main(void) {
    static const uint32_t policies[] = { LAZY_DEFERRED_KEEP, LAZY_DEFERRED_DROP, LAZY_DEFERRED_CONTINUE };
    for (int how = 0; how < WAYS; how++)
        for (int i = 0; i < 6; i++) end_one((way)how, policies[i / 2], i % 2);
    return finish();
}
