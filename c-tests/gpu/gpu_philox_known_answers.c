// Guards the other programs of this folder: with kernels that are not Philox, or a counter that loses its carry, a wrong state could still
// give the expected numbers. The known answers, and blocks at counters whose carry runs through every word, come from the device.
#include "device_generator.h"

static void check_from(philox state) {
    philox after = state, found;
    static drawn out;
    CHECK_IS(set_rng_state(&state), LAZY_OK);
    draw(&out);
    check_blocks(out.words, &after, BLOCKS);
    CHECK_IS(get_rng_state(&found), LAZY_OK);
    CHECK(is_same_state(&found, &after));
}

int main(void) {
    need_device();
    set_up_generator();
    CHECK_IS(lazy_init(), LAZY_OK);
    for (int vector = 0; vector < 3; vector++) {
        philox state = philox_known[vector].state;
        uint32_t block[4];
        CHECK_IS(set_rng_state(&state), LAZY_OK);
        launch_fill(generator.out, generator.state, 1, NULL);
        copy_out(block, generator.out, sizeof block, NULL);
        for (int word = 0; word < 4; word++) CHECK_IS(block[word], philox_known[vector].block[word]);
        check_from(state);
    }
    for (int carries = 0; carries < 4; carries++) {
        philox state = { { ~0u - 100, 9, 9, 9 }, { 0x243f6a88, 0x85a308d3 } };
        for (int word = 1; word <= carries; word++) state.counter[word] = ~0u;
        check_from(state);
    }
    return finish();
}
