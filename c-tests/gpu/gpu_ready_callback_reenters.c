// Guards against the first hang of PyTorch's `_lazy_call`, on a device: after initialization a callback re-enters the gate to set the
// generator's state. What it sets is the device's: the numbers drawn afterwards are those drawn after the state was read.
#include "device_generator.h"

static philox saved;
static drawn before, rewound;

static int32_t innermost(void *ctx) {
    (void)ctx;
    step('2');
    philox found;
    CHECK_IS(get_rng_state(&found), LAZY_OK);
    CHECK(is_same_state(&found, &saved));
    draw(&rewound);
    step('3');
    return 0;
}
static int32_t outer(void *ctx) {
    step('1');
    CHECK(is_initialized());
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(set_rng_state(&saved), LAZY_OK);
    CHECK_IS(lazy_call(innermost, ctx), LAZY_OK);
    step('4');
    return 0;
}
static int32_t fails(void *ctx) {
    (void)ctx;
    CHECK_IS(set_rng_state(&saved), LAZY_OK);
    return lazy_fail(7, "it does not want to");
}

int main(void) {
    uint64_t seed = 0x85a308d3243f6a88u;
    philox state;
    need_device();
    set_up_generator();
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(manual_seed(&seed), LAZY_OK);
    philox_seed(&state, seed);
    check_draw(&state);
    CHECK_IS(get_rng_state(&saved), LAZY_OK);
    CHECK(is_same_state(&saved, &state));
    draw(&before);
    check_blocks(before.words, &state, BLOCKS);
    check_draw(&state); /* it has moved on by two draws */

    CHECK_IS(lazy_call(outer, NULL), LAZY_OK);
    CHECK_STEPS("1234");
    CHECK(!memcmp(&before, &rewound, sizeof before));
    check_blocks(rewound.words, &saved, BLOCKS);

    CHECK_IS(get_rng_state(&saved), LAZY_OK);
    CHECK_IS(lazy_call(fails, NULL), LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 7);
    check_draw(&saved);
    return finish();
}
