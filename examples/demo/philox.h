/* Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) in host memory, in the place of a
   device's generator: its state is a 128-bit counter and a 64-bit key, and a seed is a key with the counter at 0. */
#ifndef PHILOX_H
#define PHILOX_H

#include <stdint.h>
#include "demo.h"

typedef struct { uint32_t word[4]; } block;
typedef struct { block counter; uint32_t key[2]; } rng_state;

static inline block philox(rng_state s) {
    block c = s.counter;
    for (int round = 0; round < 10; round++) {
        uint64_t even = (uint64_t)0xD2511F53u * c.word[0], odd = (uint64_t)0xCD9E8D57u * c.word[2];
        block next = {{(uint32_t)(odd >> 32) ^ c.word[1] ^ s.key[0], (uint32_t)odd,
                       (uint32_t)(even >> 32) ^ c.word[3] ^ s.key[1], (uint32_t)even}};
        c = next;
        s.key[0] += 0x9E3779B9u;
        s.key[1] += 0xBB67AE85u;
    }
    return c;
}

static inline rng_state seeded(uint64_t seed) {
    rng_state s = {{{0, 0, 0, 0}}, {(uint32_t)seed, (uint32_t)(seed >> 32)}};
    return s;
}

/* The next four numbers of the stream. */
static inline block draw(rng_state *s) {
    block numbers = philox(*s);
    for (int i = 0; i < 4 && ++s->counter.word[i] == 0; i++) {}
    return numbers;
}

static inline int same(block a, block b) { return memcmp(&a, &b, sizeof a) == 0; }

/* The three known answers that Random123 publishes for philox4x32-10. */
typedef struct { rng_state state; block answer; } known_answer;
static const known_answer known[3] = {
    {{{{0, 0, 0, 0}}, {0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, {0xffffffff, 0xffffffff}},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {0xa4093822, 0x299f31d0}},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

static inline void check_known_answers(void) {
    for (int i = 0; i < 3; i++) CHECK(same(philox(known[i].state), known[i].answer));
}

#endif
