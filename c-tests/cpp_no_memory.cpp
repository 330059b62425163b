// Guards against a callable that is lost, or run half, where there is no memory for it: the call throws LAZY_E_NOMEM, nothing was queued, and
// what was handed in is still its owner's. An initialized once needs no memory, nor does call_once for its callable.
// not-under: tsan asan valgrind: they replace the functions of the allocator as well
#include "caught.hpp"
#include <memory>
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
    static lazyonce::once once;
    int ran = 0;
    auto callable = [&ran, only = std::make_unique<int>(1)] { ran += *only; };
    is_full = true;
    throws_status([&] { once.call(std::move(callable)); }, LAZY_E_NOMEM);
    throws_status([&] { once.submit([] { CHECK(!"it ran"); }); }, LAZY_E_NOMEM);
    CHECK_IS(info_of(once.native_handle()).queued, 0);
    is_full = false;
    CHECK_IS(once.call(std::move(callable)), LAZY_QUEUED);
    CHECK_IS(once.init(), LAZY_OK);
    CHECK_IS(ran, 1);
    is_full = true;
    CHECK_IS(once.call([&ran] { ++ran; }), LAZY_OK);
    lazyonce::once_flag flag;
    lazyonce::call_once(flag, [&ran, big = std::string(100, 'x')] { ran += static_cast<int>(big.size()); });
    CHECK_IS(ran, 102);
    return finish();
}
