// Guards against an initializer that throws through the gate and leaves it locked for ever, as old versions of call_once
// do, or ends the process: the exception reaches the caller as itself, waiters hear of it, and the next attempt works.
#include "check.h"
#include <atomic>
#include <stdexcept>
#include <string>

static gate started = GATE_INIT, proceed = GATE_INIT;
static std::atomic<int> attempts, ran, waiter_init, waiter_call;
static bool run_shape;

static int32_t initialize(void *) {
    if (++attempts > 1) return 0;
    gate_open(&started);
    gate_wait(&proceed);
    throw std::runtime_error("thrown by the initializer");
}
static const lazy_config config = { sizeof(lazy_config), "throws", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once configured = LAZY_ONCE_WITH(&config), bare = LAZY_ONCE_INIT;

static lazy_once *once() { return run_shape ? &bare : &configured; }
static lazy_status init() { return run_shape ? lazy_once_run(&bare, initialize, nullptr) : lazy_once_init(&configured); }
static int32_t count(void *) { return ++ran < 0; }

static void *initializing(void *) {
    std::string what;
    try {
        init();
        CHECK(!"the exception was swallowed");
    } catch (const std::runtime_error &error) {
        what = error.what();
    }
    CHECK(what == "thrown by the initializer");
    CHECK(!lazy_once_is_initializing(once()));
    return nullptr;
}
static void *waiting_in_init(void *) {
    gate_wait(&started);
    waiter_init = thread_id();
    CHECK_IS(init(), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->code, 0);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INIT);
    CHECK(*lazy_last_error()->message != 0);
    return nullptr;
}
static void *waiting_in_call(void *) {
    gate_wait(&started);
    waiter_call = thread_id();
    CHECK_IS(lazy_once_call(once(), count, nullptr), LAZY_QUEUED);
    return nullptr;
}

static void scenario(bool with_run) {
    run_shape = with_run;
    started.open = proceed.open = 0;
    attempts = ran = waiter_init = waiter_call = 0;
    CHECK_IS(lazy_once_call(once(), count, nullptr), LAZY_QUEUED);
    pthread_t threads[] = { start(initializing, nullptr), start(waiting_in_init, nullptr), start(waiting_in_call, nullptr) };
    while (!waiter_init || !waiter_call) sched_yield();
    until_asleep(waiter_init);
    until_asleep(waiter_call);
    gate_open(&proceed);
    for (pthread_t thread : threads) join(thread);
    CHECK(!lazy_once_is_initialized(once()));
    CHECK_IS(ran, 0);
    CHECK_IS(attempts, 1);
    CHECK_IS(init(), LAZY_OK);
    CHECK_IS(attempts, 2);
    CHECK_IS(ran, 2);
}

int main() {
    scenario(false);
    scenario(true);
    return finish();
}
