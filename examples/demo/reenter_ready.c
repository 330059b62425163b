/* Initialized; then a callback handed to the gate sets the RNG state, and setting it goes through the gate again.
   GATE is lazyonce.h or a hand-written gate with the same names. */
#include GATE
#include "philox.h"

static rng_state device_rng;

static int32_t start_device(void *ctx) {
    (void)ctx;
    device_rng = seeded(67280421310721u);
    step("init");
    return 0;
}

static int32_t apply_state(void *state) {
    device_rng = *(const rng_state *)state;
    step("state set");
    return 0;
}

static lazy_status set_rng_state(rng_state *state) {
    step("set_rng_state");
    return lazy_call(apply_state, state);
}

static int32_t callback(void *state) {
    step("callback");
    lazy_status status = set_rng_state((rng_state *)state);
    step("back");
    return status;
}

int main(void) {
    static const lazy_config config = {.size = sizeof(lazy_config), .name = "demo", .initialize = start_device};
    rng_state wanted = known[2].state;
    check_known_answers();

    CHECK(lazy_once_configure(lazy_default(), &config) == LAZY_OK);
    CHECK(lazy_init() == LAZY_OK && is_initialized());
    CHECK(!same(draw(&device_rng), known[2].answer));

    CHECK(lazy_call(callback, &wanted) == LAZY_OK);

    CHECK(strcmp(order, "init > callback > set_rng_state > state set > back") == 0);
    block numbers = draw(&device_rng);
    CHECK(same(numbers, known[2].answer));
    show("init > callback > set_rng_state");
    show("  > state set > back");
    show("draw %08x = known answer", (unsigned)numbers.word[0]);
    return done();
}
