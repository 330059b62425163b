/* A generator on the device behind the process default, as a GPU framework has it: seeding it and setting its state are `lazy_call`s, so
   that a script may do both before the device is up. What they leave is in device memory only, and is read back from there. */
#ifndef DEVICE_GENERATOR_H
#define DEVICE_GENERATOR_H
#include "device.h"

enum { BLOCKS = 256, WORDS = 4 * BLOCKS };
typedef struct drawn { uint32_t words[WORDS]; } drawn;
static struct { device_address state, out; } generator;

/* The order in which callbacks come by. */
static char steps[16];
static inline void step(char digit) {
    size_t length = strlen(steps);
    CHECK(length + 1 < sizeof steps);
    steps[length] = digit;
}
#define CHECK_STEPS(wanted) (strcmp(steps, wanted) ? check_fail(__FILE__, __LINE__, "the order", steps, wanted) : (void)0)

/* Queued first. The memory holds no seed of anybody's. */
static inline int32_t generator_open(void *ctx) {
    drawn nothing;
    memset(&nothing, 0xff, sizeof nothing);
    open_device(ctx);
    generator.state = allocate(&nothing, sizeof(philox), NULL);
    generator.out = allocate(&nothing, sizeof nothing, NULL);
    return 0;
}
/* A callback runs on whichever thread initializes, which has no context of its own. */
static inline int32_t generator_set_now(void *state) {
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    copy_in(generator.state, state, sizeof(philox), NULL);
    return 0;
}
static inline int32_t generator_get_now(void *state) {
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    copy_out(state, generator.state, sizeof(philox), NULL);
    return 0;
}
static inline int32_t generator_seed_now(void *seed) {
    philox state;
    philox_seed(&state, *(const uint64_t *)seed);
    return generator_set_now(&state);
}

/* The next numbers, made on the device from the state there. */
static inline void draw(drawn *out) {
    launch_fill(generator.out, generator.state, BLOCKS, NULL);
    launch_advance(generator.state, BLOCKS, NULL);
    copy_out(out, generator.out, sizeof *out, NULL);
}
static inline void check_draw(philox *from) {
    static drawn out;
    draw(&out);
    check_blocks(out.words, from, BLOCKS);
}
static inline bool is_same_state(const philox *a, const philox *b) { return !memcmp(a, b, sizeof *a); }

/* The public functions of such a framework. */
static inline lazy_status manual_seed(uint64_t *seed) { return lazy_call(generator_seed_now, seed); }
static inline lazy_status set_rng_state(philox *state) { return lazy_call(generator_set_now, state); }
static inline lazy_status get_rng_state(philox *state) { return lazy_call(generator_get_now, state); }

static inline void set_up_generator(void) {
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_call(generator_open, NULL), LAZY_QUEUED);
}
#endif
