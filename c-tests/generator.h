/* A device generator behind a once, as a GPU framework has it: seeding and setting the state are `lazy_call`s, so that
   a script may do both before the device is up. Every step leaves a letter in a log, so that the order can be checked. */
#ifndef GENERATOR_H
#define GENERATOR_H
#include "check.h"
#include "philox.h"

static char generator_log[64];
static philox generator;
static lazy_once *generator_once; /* NULL: the process default */

static inline void generator_note(char letter) {
    size_t length = strlen(generator_log);
    CHECK(length + 1 < sizeof generator_log);
    generator_log[length] = letter;
    generator_log[length + 1] = 0;
}

static inline lazy_status generator_call(lazy_fn fn, void *ctx) {
    return generator_once ? lazy_once_call(generator_once, fn, ctx) : lazy_call(fn, ctx);
}
static inline lazy_status generator_init(void) {
    return generator_once ? lazy_once_init(generator_once) : lazy_init();
}
static inline bool generator_is_initialized(void) {
    return generator_once ? lazy_once_is_initialized(generator_once) : lazy_is_initialized();
}

/* The native start: the generator exists from here on, with no seed of anybody's. */
static inline int32_t generator_start(void *ctx) {
    (void)ctx;
    generator_note('I');
    memset(&generator, 0xff, sizeof generator);
    return 0;
}
static inline int32_t generator_seed_now(void *seed) {
    generator_note('s');
    philox_seed(&generator, *(const uint64_t *)seed);
    return 0;
}
static inline int32_t generator_set_state_now(void *state) {
    generator_note('t');
    generator = *(const philox *)state;
    return 0;
}
static inline int32_t generator_get_state_now(void *state) {
    generator_note('g');
    *(philox *)state = generator;
    return 0;
}

/* The public functions of such a framework. */
static inline lazy_status manual_seed(uint64_t *seed) { return generator_call(generator_seed_now, seed); }
static inline lazy_status set_rng_state(philox *state) { return generator_call(generator_set_state_now, state); }
static inline lazy_status get_rng_state(philox *state) { return generator_call(generator_get_state_now, state); }
#endif
