// Guards against the second hang of PyTorch's `_lazy_call`, as a C++ extension meets it: a callback queued before
// initialization re-enters the gate during the drain, three deep, and what it seeded must be what the program finds.
#include "generator.h"
#include <string>
#include <vector>

static std::vector<std::string> events;
static uint64_t seeds[] = { 11, 22, 33 };

static int32_t seed_level(void *ctx) {
    const auto *seed = static_cast<uint64_t *>(ctx);
    events.push_back("+" + std::to_string(*seed));
    CHECK(!generator_is_initialized());
    CHECK_IS(generator_init(), LAZY_IN_PROGRESS);
    CHECK_IS(manual_seed(static_cast<uint64_t *>(ctx)), LAZY_OK);
    CHECK_IS(generator.key[0], *seed);
    if (seed != &seeds[2]) CHECK_IS(generator_call(seed_level, static_cast<uint64_t *>(ctx) + 1), LAZY_OK);
    events.push_back("-" + std::to_string(*seed));
    return 0;
}

static void scenario(lazy_once *once) {
    events.clear();
    generator_once = once;
    CHECK_IS(generator_call(seed_level, &seeds[0]), LAZY_QUEUED);
    CHECK(events.empty());
    CHECK_IS(generator_init(), LAZY_OK);
    const std::vector<std::string> order = { "+11", "+22", "+33", "-33", "-22", "-11" };
    CHECK(events == order);
    philox expected;
    philox_seed(&expected, seeds[2]);
    CHECK_IS(philox_next(&generator), philox_next(&expected));
}

int main() {
    static const lazy_config config = { sizeof(lazy_config), "cuda", generator_start, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    static lazy_once own = LAZY_ONCE_WITH(&config);
    CHECK_IS(lazy_once_configure(lazy_default(), &config), LAZY_OK);
    scenario(nullptr);
    scenario(&own);
    return finish();
}
