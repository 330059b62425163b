/* One file of a program whose files are compiled with and without exceptions, RTTI and the like. It is included with MODE as the
   name of its namespace. For C++17. */
#include <lazyonce.hpp>

extern lazyonce::once shared_once;
extern lazyonce::once_flag shared_flag;

namespace MODE {

int queue(lazyonce::once &once, int *ran) {
    return once.call([ran] { ++*ran; });
}
int initialize(lazyonce::once &once) { return once.init(); }
bool try_to(lazyonce::once &once) { return once.init_for(std::chrono::nanoseconds::zero()); }

/* What the flag's call came to: 1 it ran, 0 it had run; and of a call inside the call. */
int flag(lazyonce::once_flag &once, int *status_inside) {
    int ran = 0;
    lazyonce::call_once(once, [&] {
        ++ran;
#ifdef __cpp_exceptions
        try {
            lazyonce::call_once(once, [&] { ran += 10; });
        } catch (const lazyonce::error &error) {
            *status_inside = error.status();
        }
#else
        *status_inside = lazyonce::call_once(once, [&] { ran += 10; });
#endif
    });
    return ran;
}

/* How a failing call tells of it. */
int closed(lazyonce::once &once) {
#ifdef __cpp_exceptions
    try {
        initialize(once);
    } catch (const lazyonce::error &error) {
        return error.status() * 1000;
    }
    return 0;
#else
    return initialize(once);
#endif
}

/* A slot of this file, and what this file gets of one that may be another's. */
lazyonce::slot<int> &slot() {
    static lazyonce::slot<int> own([](std::uint32_t index) { return 10 * static_cast<int>(index); }, {LAZY_SLOT_THREAD, nullptr, true});
    return own;
}
int look_up(lazyonce::slot<int> &slot, std::uint32_t index) {
#ifdef __cpp_exceptions
    return ++slot.get(index);
#else
    return ++*slot.get(index);
#endif
}
lazyonce::thread_state capture() { return lazyonce::thread_state::capture(); }
int look_up_inside(const lazyonce::thread_state &state, lazyonce::slot<int> &slot, std::uint32_t index) {
    lazyonce::thread_state::scope in(state);
    return look_up(slot, index);
}

}  // namespace MODE
