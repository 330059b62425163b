// Guards against an exception out of a queued request that is not a failure like others: its waiters hear LAZY_E_DEFERRED
// with code 0 and the ticket and place of the request; it stays first or goes, as configured, and is dropped once; what
// ran is not run again, what was behind it is not lost, and the initializer's success is remembered.
#include "check.h"
#include <atomic>
#include <initializer_list>

struct refused { int code; };
static lazy_once once;
static lazy_receipt receipt;
static uint32_t line;
static std::atomic<int> initialized, before, threw, dropped, behind, late, ids[2];
static pthread_t waiters[2];

static int32_t count(void *counter) {
    ++*static_cast<std::atomic<int> *>(counter);
    return 0;
}
static void *waits(void *which) {
    bool in_call = which == &late;
    ids[in_call] = thread_id();
    if (in_call) {
        CHECK_IS(lazy_once_call(&once, count, &late), LAZY_QUEUED);
        return nullptr;
    }
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->code, 0);
    CHECK_IS(error->ticket, receipt.ticket);
    CHECK_IS(error->site.line, line);
    CHECK_HAS(error->message, "exception");
    return nullptr;
}
static int32_t throwing(void *) {
    if (threw++ > 0) return 0;
    waiters[0] = start(waits, nullptr);
    waiters[1] = start(waits, &late);
    for (auto &id : ids) {
        while (!id) sched_yield();
        until_asleep(id);
    }
    throw refused{17};
}
static void drop(void *) { ++dropped; }
static void check(uint32_t policy) {
    bool kept = policy != LAZY_DEFERRED_DROP;
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "throws";
    config.initialize = count;
    config.ctx = &initialized;
    config.on_deferred_failure = policy;
    once = lazy_once LAZY_ONCE_WITH(&config);
    initialized = before = threw = dropped = behind = late = ids[0] = ids[1] = 0;
    receipt = lazy_receipt LAZY_RECEIPT_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = throwing;
    request.drop = drop;
    request.site = LAZY_HERE;
    line = request.site.line;
    CHECK_IS(lazy_once_call(&once, count, &before), LAZY_QUEUED);
    CHECK_IS(lazy_once_submit(&once, &request, &receipt), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, count, &behind), LAZY_QUEUED);
    int code = 0;
    try {
        lazy_once_init(&once);
    } catch (const refused &error) {
        code = error.code;
    }
    CHECK_IS(code, 17);
    for (auto waiter : waiters) join(waiter);
    CHECK(!lazy_once_is_initializing(&once) && !lazy_once_is_initialized(&once));
    CHECK_IS(dropped, !kept);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(threw, kept ? 2 : 1);
    for (auto counter : { &initialized, &before, &dropped, &behind, &late }) CHECK_IS(*counter, 1);
    CHECK_IS(lazy_once_cancel(&once, receipt.ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_IS(dropped, 1);
}

int main() {
    for (auto policy : { LAZY_DEFERRED_KEEP, LAZY_DEFERRED_DROP, LAZY_DEFERRED_CONTINUE }) check(static_cast<uint32_t>(policy));
    return finish();
}
