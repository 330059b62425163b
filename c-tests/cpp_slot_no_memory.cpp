// Guards against a slot, or a value, made half where there is no memory for it: the constructor throws LAZY_E_NOMEM, get() an `error` whose
// code says so, what the factory's own allocations throw comes out as itself; and all of it can be tried again.
// not-under: tsan asan valgrind: they replace the functions of the allocator as well
#include "cpp_slots.hpp"
#include <new>

static bool is_full;
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return is_full ? nullptr : malloc(size); }
void operator delete(void *at) noexcept { free(at); }
void operator delete(void *at, std::size_t) noexcept { free(at); }
void *operator new(std::size_t size) {
    if (void *at = malloc(size)) return at;
    throw std::bad_alloc();
}

int main() {
    is_full = true;
    throws_status([] { lazyonce::slot<fixed> slot(make_fixed); }, LAZY_E_NOMEM);
    is_full = false;
    {
        lazyonce::slot<fixed> slot(make_fixed);
        is_full = true;
        auto error = caught<lazyonce::error>([&] { slot.get(1); });
        CHECK_IS(error.status(), LAZY_E_CALLBACK);
        CHECK_IS(error.code(), LAZY_E_NOMEM);
        CHECK_HAS(error.what(), "no memory");
        CHECK_IS(made, 0);
        is_full = false;
        CHECK_IS(slot.get(1).index, 1);
        lazyonce::slot<int> greedy([](std::uint32_t) -> int { throw std::bad_alloc(); });
        caught<std::bad_alloc>([&] { greedy.get(); });
    }
    CHECK_IS(made, 1);
    CHECK_IS(destroyed, 1);
    return finish();
}
