// Guards against an exception that does not get out of a callback run at once, inline or through the exported function,
// or that damages the once on its way: the caller catches it, in a drain as well as on a ready once.
#include "check.h"
#include <string>

static lazy_once once = LAZY_ONCE_INIT;
static int ran;
static lazy_status (*volatile exported_call)(lazy_once *, lazy_fn, void *) = lazy_once_call;

static int32_t throwing(void *) { throw std::string("thrown at once"); }
static int32_t count(void *) { return ++ran < 0; }

template <class Call> static void check_throws(Call call) {
    std::string caught;
    try {
        call();
    } catch (const std::string &text) {
        caught = text;
    }
    CHECK(caught == "thrown at once");
}
static int32_t drained(void *) {
    check_throws([] { lazy_once_call(&once, throwing, nullptr); });
    CHECK(lazy_once_is_initializing(&once)); /* the attempt goes on: the exception was caught inside it */
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_call(&once, count, nullptr), LAZY_OK);
    return 0;
}

int main() {
    CHECK_IS(lazy_once_call(&once, drained, nullptr), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(ran, 1);
    check_throws([] { lazy_once_call(&once, throwing, nullptr); });
    check_throws([] { exported_call(&once, throwing, nullptr); });
    CHECK(lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_call(&once, count, nullptr), LAZY_OK);
    CHECK_IS(exported_call(&once, count, nullptr), LAZY_OK);
    CHECK_IS(lazy_init(), LAZY_OK);
    check_throws([] { lazy_call(throwing, nullptr); });
    CHECK_IS(lazy_call(count, nullptr), LAZY_OK);
    CHECK_IS(ran, 4);
    return finish();
}
