// What finding a once ready costs, inline and through the library.
#define LAZY_NO_SHORT_NAMES
#include <lazyonce.h>
#include <lazyonce.hpp>
#include <cstdlib>
#include "peer.hpp"

extern "C" bool is_initialized();

// One call, for callgrind to count everything in.
SHOWN __attribute__((noinline)) void measured(const loop &loop, uint64_t times) {
    loop.run(times, 0);
    turn();
}

static apart<lazy_once> ready[2];
static apart<lazyonce::once_flag> flags[2];

// Not known to the compiler, as the callback of a framework is not.
static int32_t do_nothing(void *) {
    turn();
    return 0;
}
static int32_t (*volatile callback)(void *) = do_nothing;

static void make_ready(uint64_t) {
    lazy_init();
    for (auto &once : ready) lazy_once_init(&once.it);
    for (auto &flag : flags) lazyonce::call_once(flag.it, nothing);
}

// A loop over `expression`, in which `once` is one that is ready and `fn` a callback that returns 0.
#define LOOP(function, expression)                                            \
    static void function(uint64_t times, unsigned which) {                    \
        [[maybe_unused]] lazy_once *const once = &ready[which].it;            \
        [[maybe_unused]] lazyonce::once_flag &flag = flags[which].it;         \
        [[maybe_unused]] const lazy_fn fn = callback;                         \
        for (; times; times--) {                                              \
            turn();                                                           \
            expression;                                                       \
        }                                                                     \
    }
LOOP(empty, )
LOOP(inline_is_initialized, if (!lazy_once_is_initialized(once)) abort())
LOOP(inline_init, if (lazy_once_init(once) != LAZY_OK) abort())
LOOP(direct_call, if (fn(once) != 0) abort())
LOOP(inline_call, if (lazy_once_call(once, fn, once) != LAZY_OK) abort())
LOOP(inline_run, if (lazy_once_run(once, fn, once) != LAZY_OK) abort())
LOOP(exported_is_initialized, if (!is_initialized()) abort())
LOOP(exported_call, if (lazy_call(fn, once) != LAZY_OK) abort())
LOOP(cpp_call_once, lazyonce::call_once(flag, nothing))

SHOWN const loop loops[] = {
    {"empty loop", empty, make_ready, nullptr},
    {"direct call", direct_call, make_ready, nullptr},
    {"lazy_once_is_initialized", inline_is_initialized, make_ready, nullptr},
    {"lazy_once_init", inline_init, make_ready, nullptr},
    {"lazy_once_call", inline_call, make_ready, nullptr},
    {"lazy_once_run", inline_run, make_ready, nullptr},
    {"is_initialized", exported_is_initialized, make_ready, nullptr},
    {"lazy_call", exported_call, make_ready, nullptr},
    {"lazyonce::call_once", cpp_call_once, make_ready, nullptr},
    {},
};

// The once of a crowd.
struct call {
    void operator()(lazy_once &once, void (*initialize)()) const {
        const lazy_fn function = [](void *ctx) -> int32_t { return (*static_cast<void (**)()>(ctx))(), 0; };
        if (lazy_once_run(&once, function, &initialize) != LAZY_OK) abort();
    }
};
using crowded = peer<lazy_once, call>;
SHOWN const gate gates[] = {{"lazyonce", crowded::make, crowded::start}, {}};
