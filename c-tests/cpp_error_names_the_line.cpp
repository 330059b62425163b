// Guards against an attempt that is said to have been started by the header itself: init with an initializer and without, init_for and
// call_once, also with arguments and from a function that is inlined, name the file, line and function that called them.
#include "caught.hpp"

static int32_t fails(void *) { return lazy_fail(7, "no such device"); }
static const lazy_config config = {sizeof(lazy_config), "driver", fails, nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0};

static void check_place(std::uint32_t line, const char *function) {
    const lazy_site &site = lazy_last_error()->init_site;
    CHECK_HAS(site.file, "cpp_error_names_the_line.cpp");
    CHECK_IS(site.line, line);
    CHECK(!strcmp(site.function, function));
}
template <class F> static void fails_at(std::uint32_t line, const char *function, F call) {
    caught<lazyonce::error>(call);
    check_place(line, function);
}

static lazyonce::once bound(&config), queues;
static void initializes() { bound.init(); }
static const std::uint32_t init_line = __LINE__ - 1;
static void initializes_for() { bound.init_for(std::chrono::seconds(1)); }
static const std::uint32_t for_line = __LINE__ - 1;
static void drains() { queues.init(); }
static const std::uint32_t drain_line = __LINE__ - 1;

static lazyonce::once_flag flag;
static void refuses(int number) { throw refused{number}; }
static void calls() { lazyonce::call_once(flag, refuses, 3); }
static const std::uint32_t call_line = __LINE__ - 1;

int main() {
    fails_at(init_line, "initializes", initializes);
    fails_at(for_line, "initializes_for", initializes_for);
    queues.call([] { throw broken(); });
    fails_at(drain_line, "drains", drains);
    CHECK_IS(caught<refused>(calls).number, 3);
    check_place(call_line, "calls");
    CHECK_IS(queues.close(), LAZY_OK);
    CHECK_IS(bound.close(), LAZY_OK);
    return finish();
}
