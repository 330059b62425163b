// Guards against the second hang of PyTorch's `_lazy_call`, on a device and as a C++ extension meets it: a queued lambda seeds the generator
// during the drain, three deep. One that throws leaves the queue behind it and the device usable, and the next attempt goes on there.
#include "device_generator.h"
#include <lazyonce.hpp>
#include <memory>
#include <stdexcept>

static lazyonce::once cuda;

static void seed_now(uint64_t seed) {
    CHECK(!cuda.is_initialized());
    CHECK_IS(cuda.init(), LAZY_IN_PROGRESS);
    CHECK_IS(cuda.call([&] { generator_seed_now(&seed); }), LAZY_OK);
}
static void check_device_has(uint64_t seed) {
    philox wanted, found;
    philox_seed(&wanted, seed);
    CHECK_IS(cuda.call([&] { generator_get_now(&found); }), LAZY_OK);
    CHECK(is_same_state(&found, &wanted));
    check_draw(&wanted);
}

int main() {
    need_device();
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    bool has_thrown = false;
    auto seeds = std::make_unique<uint64_t[]>(3); /* what only moves can be queued as well */
    seeds[0] = 11, seeds[1] = 22, seeds[2] = 33;
    CHECK_IS(cuda.call([] { generator_open(nullptr); }), LAZY_QUEUED);
    CHECK_IS(cuda.call([seeds = std::move(seeds)] {
        step('1');
        seed_now(seeds[0]);
        CHECK_IS(cuda.call([&] {
            step('2');
            seed_now(seeds[1]);
            CHECK_IS(cuda.call([&] { seed_now(seeds[2]); }), LAZY_OK);
            step('3');
        }), LAZY_OK);
    }), LAZY_QUEUED);
    CHECK_IS(cuda.call([&] {
        if (!std::exchange(has_thrown, true)) throw std::runtime_error("not yet");
        step('4');
    }), LAZY_QUEUED);
    CHECK_STEPS("");

    lazyonce::status failed = LAZY_OK;
    try {
        cuda.init();
    } catch (const lazyonce::deferred_error &error) {
        failed = error.status();
        CHECK_HAS(error.what(), "not yet");
    }
    CHECK_IS(failed, LAZY_E_DEFERRED);
    CHECK_STEPS("123");
    CHECK(!cuda.is_initialized());
    CHECK_IS(cuda.init(), LAZY_OK);
    CHECK_STEPS("1234");
    check_device_has(33);
    CHECK_IS(cuda.close(), LAZY_OK);
    return finish();
}
