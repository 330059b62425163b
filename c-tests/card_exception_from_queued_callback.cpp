// Guards against a queued callback that throws during the drain: the exception reaches the thread that drains, waiters
// get LAZY_E_DEFERRED, the throwing callback stays first in the queue, and what already ran does not run again.
#include "check.h"
#include <atomic>
#include <string>

static gate started = GATE_INIT, proceed = GATE_INIT;
static std::atomic<int> throws_left{1}, waiter;
static std::string events; /* written by the draining thread only, read after it was joined */

struct refused { int code; };

static int32_t initialize(void *) { events += 'I'; return 0; }
static const lazy_config config = { sizeof(lazy_config), "drain throws", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

static int32_t letter(void *text) { events += static_cast<const char *>(text); return 0; }
static int32_t throwing(void *) {
    events += 't';
    if (throws_left-- <= 0) return 0;
    gate_open(&started);
    gate_wait(&proceed);
    throw refused{17};
}
static void *draining(void *) {
    int code = 0;
    try {
        lazy_once_init(&once);
        CHECK(!"the exception was swallowed");
    } catch (const refused &error) {
        code = error.code;
    }
    CHECK_IS(code, 17);
    CHECK(!lazy_once_is_initializing(&once));
    return nullptr;
}
static void *waiting(void *) {
    gate_wait(&started);
    waiter = thread_id();
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_IS(lazy_last_error()->code, 0);
    CHECK_IS(lazy_last_error()->status, LAZY_E_DEFERRED);
    CHECK(*lazy_last_error()->message != 0);
    return nullptr;
}

int main() {
    static char a[] = "a", b[] = "b";
    CHECK_IS(lazy_once_call(&once, letter, a), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, throwing, nullptr), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, letter, b), LAZY_QUEUED);
    pthread_t first = start(draining, nullptr), second = start(waiting, nullptr);
    while (!waiter) sched_yield();
    until_asleep(waiter);
    gate_open(&proceed);
    join(first);
    join(second);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK(events == "Iat");
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK(events == "Iattb");
    return finish();
}
