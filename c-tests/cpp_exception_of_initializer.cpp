// Guards against an initializer's exception that is wrapped, lost, or thrown through the library: it reaches the caller of init() as
// itself, whatever its type; those who waited get an `error` with code -1 and its text, which only a caught one has; a status
// that an initializer gives stays; and the once can be initialized afterwards. One set by lazy_once_configure passes as well.
#include "caught.hpp"

static std::atomic<int> attempts;
static void (*waits)();
static int32_t initialize(void *) {
    int attempt = ++attempts;
    if (attempt == 1 && waits) waits();
    if (attempt == 1) throw broken();
    if (attempt == 2) throw refused{17};
    if (attempt == 3) return lazy_fail_status(LAZY_E_UNAVAILABLE, 100, "no driver");
    if (attempt == 4) throw std::string("text");
    if (attempt == 5) throw lazyonce::error(LAZY_E_TIMEOUT, 5, "of another once");
    return 0;
}
static const lazy_config config = {sizeof(lazy_config), "throws", initialize, nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0};
static lazyonce::once once(&config);

struct waiter {
    lazyonce::status status = 1;
    std::int32_t code = 0;
    std::string text;
    void operator()() {
        auto error = caught<lazyonce::error>([] { once.init(); });
        status = error.status(), code = error.code(), text = error.what();
    }
};
static waiter first, second;
static void wait_for_me() {
    static running one([] { first(); });
    static running two([] { second(); });
    one.until_asleep();
    two.until_asleep();
    waits = [] {
        one.join();
        two.join();
    };
}

static void check_all(lazyonce::once &throwing) {
    CHECK_HAS(caught<broken>([&] { throwing.init(); }).what(), "cable");
    CHECK_IS(caught<refused>([&] { throwing.init(); }).number, 17);
    auto error = caught<lazyonce::error>([&] { throwing.init(); });
    CHECK_IS(error.status(), LAZY_E_UNAVAILABLE);
    CHECK_IS(error.code(), 100);
    CHECK_HAS(error.what(), "no driver");
    CHECK(!strcmp(error.what(), lazy_last_error()->message));
    CHECK(caught<std::string>([&] { throwing.init(); }) == "text");
    auto other = caught<lazyonce::error>([&] { throwing.init(); });
    CHECK_IS(other.status(), LAZY_E_TIMEOUT);
    CHECK_HAS(other.what(), "of another once");
    CHECK_IS(throwing.init(), LAZY_OK);
    CHECK_IS(attempts, 6);
}

int main() {
    waits = wait_for_me;
    check_all(once);
    waits();
    for (const waiter *one : {&first, &second}) {
        CHECK_IS(one->status, LAZY_E_INIT);
        CHECK_IS(one->code, -1);
        CHECK_HAS(one->text.c_str(), "the cable is broken");
    }
    CHECK_IS(once.close(), LAZY_OK);

    waits = nullptr;
    attempts = 0;
    static lazyonce::once configured;
    CHECK_IS(lazy_once_configure(configured.native_handle(), &config), LAZY_OK);
    check_all(configured);
    CHECK_IS(configured.close(), LAZY_OK);

    attempts = 1;
    static lazyonce::once limited(&config);
    CHECK_IS(caught<refused>([] { limited.init_for(std::chrono::seconds(1)); }).number, 17);
    attempts = 6;
    CHECK(limited.init_for(std::chrono::seconds(1)));
    return finish();
}
