/* A callback queued before initialization seeds the device during the drain, and seeding goes through the gate again.
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

static int32_t apply_seed(void *seed) {
    device_rng = seeded(*(const uint64_t *)seed);
    step("seeded");
    return 0;
}

static lazy_status manual_seed(uint64_t *seed) {
    step("manual_seed");
    return lazy_call(apply_seed, seed);
}

static int32_t callback(void *seed) {
    step("callback");
    CHECK(!is_initialized());
    lazy_status status = manual_seed((uint64_t *)seed);
    step("back");
    return status;
}

static int32_t second(void *ctx) {
    (void)ctx;
    step("2nd");
    return 0;
}

int main(void) {
    static const lazy_config config = {.size = sizeof(lazy_config), .name = "demo", .initialize = start_device};
    uint64_t seed = 0;
    check_known_answers();

    CHECK(lazy_once_configure(lazy_default(), &config) == LAZY_OK);
    CHECK(lazy_call(callback, &seed) == LAZY_QUEUED);
    CHECK(lazy_call(second, 0) == LAZY_QUEUED);
    CHECK(!is_initialized() && order[0] == 0);

    CHECK(lazy_init() == LAZY_OK && is_initialized());

    CHECK(strcmp(order, "init > callback > manual_seed > seeded > back > 2nd") == 0);
    block numbers = draw(&device_rng);
    CHECK(same(numbers, known[0].answer));
    show("init > callback > manual_seed");
    show("  > seeded > back > 2nd");
    show("draw %08x = known answer", (unsigned)numbers.word[0]);
    return done();
}
