// Guards against the second hang of PyTorch's `_lazy_call`: a callback queued before initialization re-enters the gate
// during the drain, as a manual seed does, and waits for the initialization that it is part of. Here three deep.
#include "generator.h"

static uint64_t early_seed = 1, drain_seed = 0x85a308d3243f6a88u;
static philox seen;

static int32_t innermost(void *ctx) {
    (void)ctx;
    generator_note('3');
    CHECK_IS(get_rng_state(&seen), LAZY_OK);
    return 0;
}
static int32_t middle(void *ctx) {
    generator_note('2');
    CHECK_IS(manual_seed(&drain_seed), LAZY_OK);
    CHECK_IS(generator_call(innermost, ctx), LAZY_OK);
    generator_note('b');
    return 0;
}
static int32_t outer(void *ctx) {
    generator_note('1');
    CHECK(!generator_is_initialized());
    CHECK_IS(generator_init(), LAZY_IN_PROGRESS);
    CHECK_IS(generator_call(middle, ctx), LAZY_OK);
    CHECK(!generator_is_initialized());
    generator_note('a');
    return 0;
}
static int32_t last(void *ctx) {
    (void)ctx;
    generator_note('L');
    return 0;
}

static void scenario(lazy_once *once) {
    generator_once = once;
    generator_log[0] = 0;
    memset(&seen, 0, sizeof seen);
    CHECK_IS(manual_seed(&early_seed), LAZY_QUEUED);
    CHECK_IS(generator_call(outer, NULL), LAZY_QUEUED);
    CHECK_IS(generator_call(last, NULL), LAZY_QUEUED);
    CHECK_IS(strlen(generator_log), 0);
    CHECK_IS(generator_init(), LAZY_OK);
    CHECK(generator_is_initialized());
    CHECK_HAS(generator_log, "Is12s3gbaL"); /* first in, first out; what is nested runs inside, depth-first */
    CHECK_IS(strlen(generator_log), 10);
    philox expected;
    philox_seed(&expected, drain_seed);
    CHECK(!memcmp(&seen, &expected, sizeof seen));
    CHECK_IS(philox_next(&generator), philox_next(&expected));
}

int main(void) {
    static const lazy_config config = { sizeof(lazy_config), "cuda", generator_start, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    static lazy_once own = LAZY_ONCE_WITH(&config);
    CHECK_IS(lazy_once_configure(lazy_default(), &config), LAZY_OK);
    scenario(NULL);
    scenario(&own);
    return finish();
}
