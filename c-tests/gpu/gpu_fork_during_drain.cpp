// Guards against a child that waits for a drain whose thread it does not have, or runs the rest of the queue on a driver that did not survive:
// forked while another thread's callback has a kernel on the device, it gets an exception that names its parent. The parent's drain goes on.
#include "device_counter.h"
#include <atomic>
#include <lazyonce.hpp>
#include <string>
#include <thread>

enum { LANES = 32, SPIN_NS = 200000000 };
static lazyonce::once cuda;
static gate inside = GATE_INIT, forked = GATE_INIT;
static std::atomic<int> ran{0};
static std::string parent;

static void add() {
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    launch_count(counter, LANES, nullptr);
    ++ran;
}
template <class F> static void check_forked(F call) {
    lazyonce::status status = LAZY_OK;
    try {
        call();
    } catch (const lazyonce::error &thrown) {
        status = thrown.status();
        CHECK_HAS(thrown.what(), parent.c_str());
    }
    CHECK_IS(status, LAZY_E_FORKED);
}
static void child() {
    CHECK(!cuda.is_initialized());
    check_forked([] { cuda.init(); });
    check_forked([] { cuda.init_for(std::chrono::hours(1)); });
    check_forked([] { cuda.call(add); });
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
    CHECK_IS(ran, 0);
}

int main() {
    parent = std::to_string(getpid());
    need_device();
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    CHECK_IS(cuda.call([] {
        open_counter(nullptr);
        launch_spin(SPIN_NS, nullptr);
        gate_open(&inside);
        gate_wait(&forked);
        CHECK_DRIVER(driver.StreamSynchronize(nullptr));
    }), LAZY_QUEUED);
    CHECK_IS(cuda.call(add), LAZY_QUEUED);
    std::thread drains([] { CHECK_IS(cuda.init(), LAZY_OK); });
    gate_wait(&inside);
    in_child(child);
    gate_open(&forked);
    drains.join();
    CHECK_IS(ran, 1);
    CHECK_IS(cuda.call(add), LAZY_OK);
    CHECK_IS(counted(counter, nullptr), 2 * LANES);
    CHECK_IS(cuda.close(), LAZY_OK);
    return finish();
}
