// not-under: tsan asan valgrind: the tool does not know this stack
// Guards against an abort where a coroutine's stack lies in the thread's own, above the initializer that runs: its call looks like one after a
// longjmp, and is told so; the initializer that still runs goes on, and its init says what has become of it. A new call works.
#include "callers.h"
#include <ucontext.h>

static ucontext_t outside, coroutine;
static lazy_once once;
static lazy_status inner, outer;
static int started;

static void calls_in(void) {
    inner = lazy_once_init(&once);
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    return started++ ? 0 : swapcontext(&outside, &coroutine);
}

int main(void) {
    char stack[65536];
    lazy_config config = { .size = sizeof config, .name = "entered", .initialize = initialize };
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(getcontext(&coroutine), 0);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    coroutine.uc_link = &outside;
    makecontext(&coroutine, calls_in, 0);
    outer = lazy_once_init(&once);
    CHECK(inner == LAZY_E_DEADLOCK || inner == LAZY_IN_PROGRESS);
    CHECK_IS(outer, inner == LAZY_IN_PROGRESS ? LAZY_OK : LAZY_E_INIT);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
