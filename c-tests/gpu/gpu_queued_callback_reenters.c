// Guards against the second hang of PyTorch's `_lazy_call`, on a device: a callback queued before initialization re-enters the gate during
// the drain to seed the generator, and waits for the initialization that it is part of. The seed that it sets is the device's afterwards.
#include "device_generator.h"

static uint64_t early_seed = 1, drain_seed = 0x243f6a8885a308d3u;
static philox found;

static int32_t seeds(void *ctx) {
    step('2');
    return generator_seed_now(ctx);
}
static int32_t outer(void *ctx) {
    (void)ctx;
    step('1');
    CHECK(!is_initialized());
    CHECK(lazy_once_is_initializing(lazy_default()));
    CHECK_IS(lazy_init(), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_call(seeds, &drain_seed), LAZY_OK);
    CHECK_IS(get_rng_state(&found), LAZY_OK);
    CHECK(!is_initialized());
    step('3');
    return 0;
}
static int32_t last(void *ctx) {
    (void)ctx;
    step('4');
    return 0;
}
static void *initializes(void *ctx) {
    CHECK_IS(lazy_init(), LAZY_OK);
    return ctx;
}

int main(void) {
    philox state;
    need_device();
    set_up_generator();
    CHECK_IS(manual_seed(&early_seed), LAZY_QUEUED);
    CHECK_IS(lazy_call(outer, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_call(last, NULL), LAZY_QUEUED);
    CHECK_STEPS("");
    join(start(initializes, NULL)); /* so the callbacks bring a context along, and this thread has none */
    CHECK_STEPS("1234");
    CHECK(is_initialized());
    CHECK(current_context() == NULL);
    philox_seed(&state, drain_seed);
    CHECK(is_same_state(&found, &state));
    CHECK_IS(get_rng_state(&found), LAZY_OK);
    CHECK(is_same_state(&found, &state));
    check_draw(&state);
    check_draw(&state);
    return finish();
}
