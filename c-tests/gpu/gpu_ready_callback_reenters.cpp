// Guards against the first hang of PyTorch's `_lazy_call`, on a device and as a C++ extension meets it: after initialization a lambda
// re-enters the gate to set the generator's state and draws from it, three deep; an exception out of the depth leaves all of it usable.
#include "device_generator.h"
#include <lazyonce.hpp>
#include <stdexcept>
#include <string>

static lazyonce::once cuda;
static const uint64_t seed = 0x13198a2e03707344u;

static lazyonce::status set_state(philox state) {
    return cuda.call([state]() mutable { generator_set_now(&state); });
}
static philox state_now() {
    philox state{};
    CHECK_IS(cuda.call([&] { generator_get_now(&state); }), LAZY_OK);
    return state;
}
static void seed_and_rewind() {
    philox state;
    philox_seed(&state, seed);
    CHECK_IS(set_state(state), LAZY_OK);
    check_draw(&state);
    const philox saved = state_now();
    CHECK(is_same_state(&saved, &state));
    drawn before, rewound;
    draw(&before);
    /* `submit` goes through the library, `call` past it. */
    CHECK_IS(cuda.submit([&] {
        step('1');
        CHECK_IS(cuda.init(), LAZY_OK);
        CHECK_IS(set_state(saved), LAZY_OK);
        CHECK_IS(cuda.submit([&] {
            step('2');
            CHECK_IS(cuda.call([&] { draw(&rewound); }), LAZY_OK);
            step('3');
        }), LAZY_OK);
        step('4');
    }), LAZY_OK);
    CHECK_STEPS("1234");
    CHECK(!memcmp(&before, &rewound, sizeof before));
    check_blocks(rewound.words, &state, BLOCKS);
}
static void exception_from_inside() {
    const philox saved = state_now();
    std::string said;
    try {
        cuda.call([&] {
            set_state(saved);
            cuda.call([] { throw std::runtime_error("out of numbers"); });
        });
    } catch (const std::runtime_error &thrown) {
        said = thrown.what();
    }
    CHECK_HAS(said.c_str(), "out of numbers");
    CHECK(cuda.is_initialized());
    philox state = saved;
    check_draw(&state);
}

int main() {
    need_device();
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    CHECK_IS(cuda.call([] { generator_open(nullptr); }), LAZY_QUEUED);
    CHECK_IS(cuda.init(), LAZY_OK);
    seed_and_rewind();
    exception_from_inside();
    CHECK_IS(cuda.close(), LAZY_OK);
    return finish();
}
