// Guards against a launch that is lost or made twice when C++ threads race to be first: each lambda launches a kernel with a number of lanes
// of its own, and whatever ran queued, in the drain or at once, the device's sum is that of all of them. Every callable is destroyed.
#include "device_counter.h"
#include <atomic>
#include <lazyonce.hpp>
#include <thread>
#include <vector>

static lazyonce::once cuda;
static std::atomic<uint32_t> sum, alive;

struct adds {
    explicit adds(uint32_t lanes) : lanes_(lanes) { ++alive; }
    adds(adds &&other) noexcept : lanes_(other.lanes_) { ++alive; }
    adds(const adds &) = delete;
    adds &operator=(const adds &) = delete;
    ~adds() { --alive; }
    void operator()() {
        CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
        launch_count(counter, lanes_, nullptr);
        sum += lanes_;
    }

private:
    uint32_t lanes_;
};

int main() {
    need_device();
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    CHECK_IS(cuda.call([] {
        open_counter(nullptr);
    }), LAZY_QUEUED);
    const auto calls = static_cast<uint32_t>(rounds(200));
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (uint32_t thread = 0; thread < 8; thread++) {
        threads.emplace_back([&, thread] {
            while (!go) std::this_thread::yield();
            for (uint32_t i = 0; i < calls; i++) {
                if (i == 5 * thread) CHECK_IS(cuda.init(), LAZY_OK);
                CHECK(cuda.call(adds(1 + (thread + i) % 32)) >= 0);
            }
        });
    }
    go = true;
    for (std::thread &thread : threads) thread.join();
    CHECK_IS(cuda.init(), LAZY_OK);
    uint32_t wanted = 0;
    for (uint32_t thread = 0; thread < 8; thread++) {
        for (uint32_t i = 0; i < calls; i++) wanted += 1 + (thread + i) % 32;
    }
    CHECK_IS(sum, wanted);
    CHECK_IS(alive, 0);
    CHECK_IS(cuda.call([&] {
        CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
        CHECK_IS(counted(counter, nullptr), wanted);
    }), LAZY_OK);
    CHECK_IS(cuda.close(), LAZY_OK);
    return finish();
}
