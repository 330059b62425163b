// flags: -fno-rtti
// Guards against a header that needs RTTI: exceptions are thrown and caught as ever.
#include "check.h"
#include <lazyonce.hpp>

struct refused { int number; };

int main() {
    static lazyonce::once once;
    once.call([first = true]() mutable {
        if (std::exchange(first, false)) throw refused{1};
    });
    int seen = 0;
    try {
        once.init();
    } catch (const lazyonce::deferred_error &error) {
        CHECK_IS(error.code(), -1);
        seen = error.status();
    }
    CHECK_IS(seen, LAZY_E_DEFERRED);
    CHECK_IS(once.init(), LAZY_OK);
    lazyonce::once_flag flag;
    try {
        lazyonce::call_once(flag, [] { throw refused{2}; });
    } catch (const refused &thrown) {
        seen = thrown.number;
    }
    CHECK_IS(seen, 2);
    try {
        lazyonce::call_once(flag, [&] { lazyonce::call_once(flag, [] {}); });
    } catch (const std::exception &error) {
        CHECK_HAS(error.what(), "inside its own call");
        seen = 3;
    }
    CHECK_IS(seen, 3);
    return finish();
}
