// Guards against an exception out of a request run at once that ends more or less than its own call: after a wait and on
// a worker under a permit it reaches that thread's caller only, and the other waiters and the attempt go on; out of a
// queued request that does not catch it, it ends the attempt, and both requests are dropped once in their time.
#include "check.h"
#include <atomic>
#include <vector>

struct refused { int code; };
static lazy_once once;
static lazy_permit permit;
static std::atomic<int> ran, dropped, outer_ran, outer_dropped, waiting[9];

static int32_t throwing(void *) {
    ++ran;
    throw refused{17};
}
static void drop(void *counter) { ++*static_cast<std::atomic<int> *>(counter); }
static void submit() {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = throwing;
    request.ctx = &dropped;
    request.drop = drop;
    lazy_once_submit(&once, &request, nullptr);
    CHECK(!"the exception was swallowed");
}
static void submit_and_catch() {
    int code = 0;
    try {
        submit();
    } catch (const refused &error) {
        code = error.code;
    }
    CHECK_IS(code, 17);
}
static void *waits(void *number) {
    auto me = reinterpret_cast<intptr_t>(number);
    waiting[me] = thread_id();
    if (me % 2) submit_and_catch();
    else CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return nullptr;
}
static std::vector<pthread_t> threads;
static int32_t with_waiters(void *) {
    for (intptr_t i = 0; i < 9; i++) threads.push_back(start(waits, reinterpret_cast<void *>(i)));
    for (auto &thread : waiting) {
        while (!thread) sched_yield();
        until_asleep(thread);
    }
    CHECK_IS(ran, 0);
    return 0;
}
static void *worker(void *) {
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    submit_and_catch();
    CHECK(lazy_once_is_initializing(&once));
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return nullptr;
}
static int32_t with_worker(void *) {
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    join(start(worker, nullptr));
    return 0;
}
static int32_t outer(void *) {
    if (outer_ran++ == 0) submit(); /* lets it pass */
    return 0;
}
static void *gets_the_failure(void *) {
    waiting[0] = thread_id();
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_IS(lazy_last_error()->code, 0);
    CHECK_HAS(lazy_last_error()->message, "exception");
    return nullptr;
}
static int32_t starts_a_waiter(void *) {
    if (!threads.empty()) return 0;
    threads.push_back(start(gets_the_failure, nullptr));
    while (!waiting[0]) sched_yield();
    until_asleep(waiting[0]);
    return 0;
}
static void begin() {
    once = lazy_once{};
    ran = dropped = 0;
    threads.clear();
    for (auto &thread : waiting) thread = 0;
}
static void join_all(int throws) {
    for (auto thread : threads) join(thread);
    CHECK_IS(ran, throws);
    CHECK_IS(dropped, throws);
    CHECK(lazy_once_is_initialized(&once));
}

int main() {
    begin();
    CHECK_IS(lazy_once_run(&once, with_waiters, nullptr), LAZY_OK);
    join_all(4);

    begin();
    CHECK_IS(lazy_once_call(&once, with_worker, nullptr), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    join_all(1);

    begin();
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = outer;
    request.ctx = &outer_dropped;
    request.drop = drop;
    CHECK_IS(lazy_once_call(&once, starts_a_waiter, nullptr), LAZY_QUEUED);
    CHECK_IS(lazy_once_submit(&once, &request, nullptr), LAZY_QUEUED);
    int code = 0;
    try {
        lazy_once_init(&once);
    } catch (const refused &error) {
        code = error.code;
    }
    CHECK_IS(code, 17);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(outer_dropped, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    join_all(1);
    CHECK_IS(outer_ran, 2);
    CHECK_IS(outer_dropped, 1);
    return finish();
}
