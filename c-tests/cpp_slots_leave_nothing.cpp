// not-under: asan tsan valgrind: the tool has an allocator of its own, and its own memory counts
// Guards against local slots that each leave something to be called at exit, and against a once of the header's own that a dump shows:
// what ten thousand slots with values leave is what as many lazy_slots leave, also with handlers of others, and a slot that stays.
#include "cpp_slots.hpp"
#include "dumped.h"
#include "memory_use.h"
#include <algorithm>
#include <climits>

enum { ROUNDS = 10, TIMES = 1000 };

static int32_t make_one(void *ctx, std::uint32_t, void **value) { return *value = ctx, 0; }
static lazy_slot_config config = {sizeof(lazy_slot_config), nullptr, nullptr, make_one, nullptr, nullptr, nullptr, 0, 0};
static void in_c() {
    lazy_slot slot = LAZY_SLOT_INIT(&config);
    void *value = nullptr;
    CHECK_IS(lazy_slot_get(&slot, 0, &value), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
}
static void in_cpp() {
    lazyonce::slot<int> slot([](std::uint32_t index) { return static_cast<int>(index); });
    slot.get();
}

/* What is left of so many uses, in bytes, but for tables that grow now and then. */
template <class F> static long left(F use) {
    long least = LONG_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        size_t before = allocated();
        for (int i = 0; i < TIMES; i++) use();
        least = std::min(least, static_cast<long>(allocated()) - static_cast<long>(before));
    }
    return least;
}

int main() {
    long wanted = left(in_c);
    CHECK(left(in_cpp) < wanted + 4 * TIMES);
    for (int i = 0; i < 32; i++) {
        std::atexit([] {});
        in_cpp();
    }
    CHECK(left(in_cpp) < wanted + 4 * TIMES);
    lazyonce::slot<int> held([](std::uint32_t) { return 1; });
    held.get();
    CHECK(left(in_cpp) < wanted + 4 * TIMES);
    char *text = dumped();
    CHECK(strstr(text, "once \"") == nullptr);
    free(text);
    return finish();
}
