/* Every function that the header defines inline, on both sides of its branch, called directly and through its address. */
#include "check.h"

static int inline_ran;
static int32_t inline_count(void *ctx) {
    (void)ctx;
    return ++inline_ran < 0;
}
static int32_t inline_fails(void *ctx) {
    (void)ctx;
    return lazy_fail(12, "inline");
}

static inline int check_inline_paths(void) {
    static lazy_once slow = LAZY_ONCE_INIT, again = LAZY_ONCE_INIT;
    lazy_status (*volatile call)(lazy_once *, lazy_fn, void *) = lazy_once_call;
    CHECK(!lazy_once_is_initialized(&slow));
    CHECK_IS(lazy_once_call(&slow, inline_count, NULL), LAZY_QUEUED);
    CHECK_IS(call(&slow, inline_count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&slow), LAZY_OK);
    CHECK_IS(inline_ran, 2);
    CHECK(lazy_once_is_initialized(&slow));
    CHECK_IS(lazy_once_init(&slow), LAZY_OK);
    CHECK_IS(lazy_once_run(&slow, inline_fails, NULL), LAZY_OK);
    CHECK_IS(lazy_once_call(&slow, inline_count, NULL), LAZY_OK);
    CHECK_IS(call(&slow, inline_count, NULL), LAZY_OK);
    CHECK_IS(inline_ran, 4);
    CHECK_IS(lazy_once_call(&slow, inline_fails, NULL), LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 12);
    CHECK_HAS(lazy_last_error()->message, "inline");
    CHECK_IS(lazy_once_run(&again, inline_count, NULL), LAZY_OK);
    CHECK_IS(inline_ran, 5);
    CHECK_IS(lazy_once_run(&again, inline_count, NULL), LAZY_OK);
    CHECK_IS(inline_ran, 5);

    CHECK(!is_initialized());
    CHECK(!lazy_is_initialized());
    CHECK_IS(lazy_call(inline_count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK(is_initialized());
    CHECK(lazy_is_initialized());
    CHECK_IS(lazy_call(inline_count, NULL), LAZY_OK);
    CHECK_IS(inline_ran, 7);

    /* A layout that the library refuses, but READY: the inline paths read only `state`, so they never ask it. */
    static lazy_once foreign;
    foreign.state = LAZY_READY;
    foreign.abi = 0x7fff0001;
    CHECK(lazy_once_is_initialized(&foreign));
    CHECK_IS(lazy_once_init(&foreign), LAZY_OK);
    CHECK_IS(lazy_once_call(&foreign, inline_count, NULL), LAZY_OK);
    CHECK_IS(inline_ran, 8);
    return finish();
}
