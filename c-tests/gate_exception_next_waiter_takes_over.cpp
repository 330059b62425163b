// Guards against an exception that answers for its waiters: under RETRY each waiter takes its turn, as with
// std::call_once, and an exception reaches only the thread that ran it; under STICKY it is final until a reset, with code
// 0 and a text that says so; under SHARE waiters in init get that failure and those in call queue.
#include "check.h"
#include <atomic>

enum { waiters = 8, throwers = 3 };
struct refused { int code; };
static lazy_once once;
static std::atomic<int> attempts, caught, fine, failed, queued, ids[waiters];
static pthread_t threads[waiters];
static int calls_from;

static int32_t count(void *) { return 0; }
static void *waits(void *number) {
    auto me = reinterpret_cast<intptr_t>(number);
    ids[me] = thread_id();
    try {
        lazy_status status = me < calls_from ? lazy_once_init(&once) : lazy_once_call(&once, count, nullptr);
        if (status == LAZY_OK) ++fine;
        if (status == LAZY_QUEUED) ++queued;
        if (status < 0) {
            CHECK_IS(status, LAZY_E_INIT);
            CHECK_IS(lazy_last_error()->code, 0);
            CHECK_HAS(lazy_last_error()->message, "exception");
            ++failed;
        }
    } catch (const refused &error) {
        CHECK_IS(error.code, 17);
        ++caught;
    }
    return nullptr;
}
static int32_t initialize(void *) {
    int attempt = attempts++;
    if (attempt == 0) {
        for (intptr_t i = 0; i < waiters; i++) threads[i] = start(waits, reinterpret_cast<void *>(i));
        for (auto &id : ids) {
            while (!id) sched_yield();
            until_asleep(id);
        }
    }
    if (attempt < throwers) throw refused{17};
    return 0;
}
static void check(uint32_t policy, int from, int are_fine, int have_failed, int are_queued, int have_caught) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "throws";
    config.initialize = initialize;
    config.on_failure = policy;
    once = lazy_once LAZY_ONCE_WITH(&config);
    attempts = caught = fine = failed = queued = 0;
    calls_from = from;
    for (auto &id : ids) id = 0;
    try {
        lazy_once_init(&once);
        CHECK(!"the exception was swallowed");
    } catch (const refused &error) {
        CHECK_IS(error.code, 17);
    }
    for (auto thread : threads) join(thread);
    CHECK_IS(fine, are_fine);
    CHECK_IS(failed, have_failed);
    CHECK_IS(queued, are_queued);
    CHECK_IS(caught, have_caught);
    if (policy == LAZY_FAIL_STICKY) {
        CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
        CHECK_IS(attempts, 1);
        CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    }
    attempts = throwers;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main() {
    check(LAZY_FAIL_RETRY, waiters, waiters - (throwers - 1), 0, 0, throwers - 1);
    check(LAZY_FAIL_STICKY, waiters / 2, 0, waiters, 0, 0);
    check(LAZY_FAIL_SHARE, waiters / 2, 0, waiters / 2, waiters / 2, 0);
    return finish();
}
