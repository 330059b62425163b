// Guards the other programs: with a generator that is not Philox, a wrong seed could still give the expected numbers.
// The three vectors are those of the Random123 distribution.
#include "check.h"
#include "philox.h"

static const struct { philox state; uint32_t block[4]; } known[] = {
    { { { 0, 0, 0, 0 }, { 0, 0 } }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { { ~0u, ~0u, ~0u, ~0u }, { ~0u, ~0u } }, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 } },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

int main(void) {
    for (int vector = 0; vector < 3; ++vector) {
        uint32_t block[4];
        philox_block(&known[vector].state, block);
        for (int word = 0; word < 4; ++word) CHECK_IS(block[word], known[vector].block[word]);
    }
    philox state;
    philox_seed(&state, 0);
    CHECK_IS(philox_next(&state), 0x6627e8d5);
    CHECK_IS(state.counter[0], 1);
    return finish();
}
