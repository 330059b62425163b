/* Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"), the generator of the GPU frameworks,
   in host memory: a callback that seeds it or sets its state leaves numbers that can be checked. */
#ifndef PHILOX_H
#define PHILOX_H
#include <stdint.h>

typedef struct philox { uint32_t counter[4]; uint32_t key[2]; } philox;

/* The block of four numbers at a counter. */
static inline void philox_block(const philox *state, uint32_t out[4]) {
    uint32_t c0 = state->counter[0], c1 = state->counter[1], c2 = state->counter[2], c3 = state->counter[3];
    uint32_t k0 = state->key[0], k1 = state->key[1];
    for (int round = 0; round < 10; ++round) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* The three vectors of the Random123 distribution: the block at each state. */
static const struct { philox state; uint32_t block[4]; } philox_known[] = {
    { { { 0, 0, 0, 0 }, { 0, 0 } }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { { ~0u, ~0u, ~0u, ~0u }, { ~0u, ~0u } }, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 } },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

/* Manual seed: the seed is the key, and the counter starts at 0. */
static inline void philox_seed(philox *state, uint64_t seed) {
    state->counter[0] = state->counter[1] = state->counter[2] = state->counter[3] = 0;
    state->key[0] = (uint32_t)seed;
    state->key[1] = (uint32_t)(seed >> 32);
}

/* The first number of the block at the counter; the counter moves on by one block. */
static inline uint32_t philox_next(philox *state) {
    uint32_t out[4];
    philox_block(state, out);
    for (int word = 0; word < 4 && ++state->counter[word] == 0; ++word) {}
    return out[0];
}
#endif
