// Guards against a host that does not arrive: values are made and destroyed under the slot's host lock, at the end of a thread and by the
// slot's destructor; what the factory throws puts the lock back.
#include "big_lock.h"
#include "cpp_slots.hpp"

static big_lock lock;
static std::atomic<int> attached_in, attached_out;
struct under_lock {
    under_lock() { attached_in += *big_depth(&lock) > 0; }
    under_lock(const under_lock &) = delete;
    ~under_lock() { attached_out += *big_depth(&lock) > 0; }
};
static under_lock make(std::uint32_t index) {
    if (index == 13) throw refused{*big_depth(&lock)};
    return under_lock();
}

int main() {
    big_begin(&lock, 0, "lock");
    {
        lazyonce::slot<under_lock> slot(make, {LAZY_SLOT_THREAD, &lock.host});
        slot.get();
        on_a_thread([&] { slot.get(); });
        CHECK_IS(attached_out, 1);
        CHECK_IS(caught<refused>([&] { slot.get(13); }).number, 1);
        CHECK_DEPTH(&lock, 0);
    }
    CHECK_IS(attached_in, 2);
    CHECK_IS(attached_out, 2);
    CHECK_DEPTH(&lock, 0);
    return finish();
}
