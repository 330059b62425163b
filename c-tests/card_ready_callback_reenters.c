// Guards against the first hang of PyTorch's `_lazy_call`: after initialization a callback that re-enters the gate, as
// setting the RNG state does, waits for the lock that is held over it. Here three deep, on the default and on an own once.
#include "generator.h"

static philox wanted = { { 7, 0, 0, 0 }, { 0x243f6a88, 0x85a308d3 } };
static philox seen;

static int32_t innermost(void *ctx) {
    (void)ctx;
    generator_note('3');
    CHECK_IS(get_rng_state(&seen), LAZY_OK);
    generator_note('c');
    return 0;
}
static int32_t middle(void *ctx) {
    generator_note('2');
    CHECK_IS(set_rng_state(&wanted), LAZY_OK);
    CHECK_IS(generator_call(innermost, ctx), LAZY_OK);
    generator_note('b');
    return 0;
}
static int32_t outer(void *ctx) {
    generator_note('1');
    CHECK(generator_is_initialized());
    CHECK_IS(generator_init(), LAZY_OK);
    CHECK_IS(generator_call(middle, ctx), LAZY_OK);
    generator_note('a');
    return 0;
}

static void scenario(lazy_once *once) {
    generator_once = once;
    generator_log[0] = 0;
    memset(&seen, 0, sizeof seen);
    CHECK_IS(generator_init(), LAZY_OK);
    CHECK_IS(generator_call(outer, NULL), LAZY_OK);
    CHECK_HAS(generator_log, "I12t3gcba");
    CHECK_IS(strlen(generator_log), 9);
    CHECK(!memcmp(&seen, &wanted, sizeof seen));
    uint32_t block[4];
    philox_block(&wanted, block);
    CHECK_IS(philox_next(&generator), block[0]);
    CHECK_IS(generator.counter[0], 8);
}

int main(void) {
    static const lazy_config config = { sizeof(lazy_config), "cuda", generator_start, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    static lazy_once own = LAZY_ONCE_WITH(&config);
    CHECK_IS(lazy_once_configure(lazy_default(), &config), LAZY_OK);
    scenario(NULL);
    scenario(&own);
    return finish();
}
