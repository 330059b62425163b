// Guards against the first hang of PyTorch's `_lazy_call`, as a C++ extension meets it: after initialization a callback
// re-enters the gate, three deep, while C++ objects with destructors lie on the frames in between.
#include "generator.h"
#include <cstring>
#include <string>
#include <vector>

static std::vector<std::string> events;
static philox wanted = { { 1, 2, 3, 4 }, { 5, 6 } };

struct scope {
    std::string name;
    explicit scope(const char *n) : name(n) { events.push_back("+" + name); }
    ~scope() { events.push_back("-" + name); }
};

static void scenario(lazy_once *once) {
    events.clear();
    generator_once = once;
    philox seen{};
    CHECK_IS(generator_init(), LAZY_OK);
    lazy_status status = generator_call([](void *ctx) -> int32_t {
        scope outer("outer");
        CHECK_IS(generator_call([](void *inner_ctx) -> int32_t {
            scope middle("set_rng_state");
            CHECK_IS(set_rng_state(&wanted), LAZY_OK);
            CHECK_IS(generator_call([](void *innermost_ctx) -> int32_t {
                scope inner("get_rng_state");
                return get_rng_state(static_cast<philox *>(innermost_ctx)) == LAZY_OK ? 0 : 1;
            }, inner_ctx), LAZY_OK);
            return 0;
        }, ctx), LAZY_OK);
        return 0;
    }, &seen);
    CHECK_IS(status, LAZY_OK);
    const std::vector<std::string> order = { "+outer", "+set_rng_state", "+get_rng_state",
                                             "-get_rng_state", "-set_rng_state", "-outer" };
    CHECK(events == order);
    CHECK(!memcmp(&seen, &wanted, sizeof seen));
    uint32_t block[4];
    philox_block(&wanted, block);
    CHECK_IS(philox_next(&generator), block[0]);
}

int main() {
    static const lazy_config config = { sizeof(lazy_config), "cuda", generator_start, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    static lazy_once own = LAZY_ONCE_WITH(&config);
    CHECK_IS(lazy_once_configure(lazy_default(), &config), LAZY_OK);
    scenario(nullptr);
    scenario(&own);
    return finish();
}
