// Guards against the initializer of a configuration that has been replaced: a once that is bound to one by its constructor gets another one
// before its first attempt, unused or with calls queued. C++ and C run the other one's initializer, by the other one's name.
#include "caught.hpp"

static int ran_bound, ran_other;
static int32_t bound(void *) { return ran_bound++, 0; }
static int32_t other(void *) { return ran_other++, 0; }

int main() {
    static const lazy_config bound_config = { sizeof(lazy_config), "bound", bound, nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0 };
    lazy_config other_config = bound_config;
    other_config.name = "other";
    other_config.initialize = other;
    for (int what = 0; what < 4; what++) {
        lazyonce::once once(&bound_config);
        int before = ran_other, called = 0;
        if (what % 2) once.call([&called] { called++; });
        CHECK_IS(lazy_once_configure(once.native_handle(), &other_config), LAZY_OK);
        CHECK_IS(lazy_once_configure(once.native_handle(), &other_config), LAZY_OK);
        CHECK_IS(what / 2 ? lazy_once_init(once.native_handle()) : once.init(), LAZY_OK);
        CHECK_IS(ran_other, before + 1);
        CHECK_IS(ran_bound, 0);
        CHECK_IS(called, what % 2);
        lazy_info info = LAZY_INFO_INIT;
        CHECK_IS(lazy_once_info(once.native_handle(), &info), LAZY_OK);
        CHECK_HAS(info.name, "other");
        CHECK_IS(lazy_once_configure(once.native_handle(), &bound_config), LAZY_E_TOO_LATE);
        once.close();
    }
    return finish();
}
