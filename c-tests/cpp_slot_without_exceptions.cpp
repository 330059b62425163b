// flags: -fno-exceptions -fno-rtti
// Guards against slots that need exceptions: without them get() returns a pointer, NULL on failure, and the last error tells which; an
// empty state, and the scope of one, are false.
#include "check.h"
#include <lazyonce.hpp>

static int alive;
struct counted {
    explicit counted(std::uint32_t number) : index(number) { alive++; }
    counted(const counted &) = delete;
    ~counted() { alive--; }
    std::uint32_t index;
};

int main() {
    {
        static lazyonce::slot<counted> *self;
        lazyonce::slot<counted> slot(
            [](std::uint32_t index) {
                CHECK(self->get(index) == nullptr);
                CHECK_IS(lazy_last_error()->status, LAZY_E_DEADLOCK);
                return counted(index);
            },
            {LAZY_SLOT_THREAD, nullptr, true, "silent"});
        self = &slot;
        counted *value = slot.get(3);
        CHECK(value && value->index == 3 && value == slot.get(3));
        CHECK_IS(alive, 1);

        auto state = lazyonce::thread_state::capture();
        CHECK(state);
        {
            lazyonce::thread_state::scope in(state);
            CHECK(in);
            CHECK(slot.get(3) == value);
        }
        lazyonce::thread_state moved(std::move(state));
        CHECK(moved && !state);
        lazyonce::thread_state::scope nowhere(state);
        CHECK(!nowhere);
        CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    }
    CHECK_IS(alive, 0);
    lazyonce::slot<int> unknown([](std::uint32_t) { return 1; }, {77});
    CHECK(unknown.get() == nullptr);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    return finish();
}
