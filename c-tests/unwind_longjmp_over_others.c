// not-under: tsan asan valgrind: what a longjmp skips is not freed, and the tools follow the stack
// Guards against marks that point into a stack that is gone: a longjmp over two attempts, out of prepare, out of a drop and
// out of a callback run at once on READY. Afterwards the other onces of the thread answer as if nothing had been, from shallow
// and from deep frames, and a thread that ends without another call leaves no attempt behind.
#include "callers.h"
#include "requests.h"
#include <setjmp.h>

static lazy_once outer = LAZY_ONCE_INIT, inner = LAZY_ONCE_INIT, ready = LAZY_ONCE_INIT, prepared = LAZY_ONCE_INIT,
                 dropped = LAZY_ONCE_INIT, abandoned = LAZY_ONCE_INIT;
static __thread jmp_buf outside;
static int jumps = 1;

static int32_t jump(void *ctx) {
    (void)ctx;
    if (jumps) longjmp(outside, 1);
    return 0;
}
static void drop(void *ctx) { jump(ctx); }
static int32_t starts_inner(void *ctx) {
    (void)ctx;
    return lazy_once_run(&inner, jump, NULL) < 0;
}
/* Fills the stack that was left. */
__attribute__((noinline)) static void overwrite(void) {
    volatile char filler[32768];
    for (size_t i = 0; i < sizeof filler; i++) filler[i] = (char)0xaa;
}
__attribute__((noinline)) static void use_another(int depth) {
    volatile char frame[512];
    lazy_once fresh = LAZY_ONCE_INIT;
    frame[0] = 0;
    if (depth > 0) use_another(depth - 1);
    CHECK_IS(lazy_once_call(&fresh, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    CHECK_IS(lazy_once_call(&fresh, nothing, NULL), LAZY_OK);
    CHECK(!lazy_once_is_initializing(&fresh) && frame[0] == 0);
}
static void use_others(void) {
    overwrite();
    use_another(0);
    use_another(40);
}
static void over_two(void) {
    if (setjmp(outside) == 0) lazy_once_run(&outer, starts_inner, NULL);
    use_others();
    CHECK_IS(lazy_once_init(&inner), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_init(&outer), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_init(&outer), LAZY_OK);
    CHECK_IS(lazy_once_init(&inner), LAZY_OK);
}
static void out_of_prepare(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.prepare = jump;
    CHECK_IS(lazy_once_configure(&prepared, &config), LAZY_OK);
    if (setjmp(outside) == 0) lazy_once_init(&prepared);
    use_others();
    jumps = 0;
    CHECK_IS(lazy_once_init(&prepared), LAZY_OK); /* nothing was owned, so there is nothing to report */
    jumps = 1;
}
static void out_of_a_drop(void) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = nothing;
    request.drop = drop;
    queue_request(&dropped, request);
    if (setjmp(outside) == 0) lazy_once_init(&dropped);
    use_others();
    CHECK_IS(lazy_once_init(&dropped), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_init(&dropped), LAZY_OK); /* the request had run and its drop had begun: neither comes again */
}
static void out_of_a_call_on_ready(void) {
    if (setjmp(outside) == 0) lazy_once_call(&ready, jump, NULL);
    use_others();
    CHECK_IS(lazy_once_call(&ready, nothing, NULL), LAZY_OK);
}
static void *ends_without_a_call(void *ctx) {
    if (setjmp(outside) == 0) lazy_once_run(&abandoned, jump, NULL);
    return ctx;
}

int main(void) {
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    out_of_a_call_on_ready();
    out_of_prepare();
    over_two();
    out_of_a_drop();
    join(start(ends_without_a_call, NULL));
    CHECK_IS(lazy_once_init_timeout(&abandoned, 0), LAZY_OK); /* its end ended it */
    return finish();
}
