// Guards the other programs: with a generator that is not Philox, a wrong seed could still give the expected numbers.
#include "check.h"
#include "philox.h"

int main(void) {
    for (int vector = 0; vector < 3; ++vector) {
        uint32_t block[4];
        philox_block(&philox_known[vector].state, block);
        for (int word = 0; word < 4; ++word) CHECK_IS(block[word], philox_known[vector].block[word]);
    }
    philox state;
    philox_seed(&state, 0);
    CHECK_IS(philox_next(&state), 0x6627e8d5);
    CHECK_IS(state.counter[0], 1);
    return finish();
}
