// A straightforward gate: waiters sleep, the initializer runs outside the lock, and nothing puts the state back if it
// throws. It has lazyonce's names, so that one program is compiled against both.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

using lazy_status = int32_t;
enum : lazy_status { LAZY_OK = 0, LAZY_E_INIT = -3 };
using lazy_fn = int32_t (*)(void *ctx);

struct lazy_once {
    enum { FRESH, RUNNING, READY } state = FRESH;
    std::mutex lock;
    std::condition_variable changed;
};
#define LAZY_ONCE_INIT {}

static lazy_status lazy_once_run(lazy_once *gate, lazy_fn initialize, void *ctx) {
    std::unique_lock<std::mutex> held(gate->lock);
    while (gate->state == lazy_once::RUNNING) gate->changed.wait(held);
    if (gate->state == lazy_once::READY) return LAZY_OK;
    gate->state = lazy_once::RUNNING;
    held.unlock();
    const int32_t code = initialize(ctx);
    held.lock();
    gate->state = code ? lazy_once::FRESH : lazy_once::READY;
    gate->changed.notify_all();
    return code ? LAZY_E_INIT : LAZY_OK;
}
