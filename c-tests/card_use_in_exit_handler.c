// Guards against a library that is gone before its users are: an exit handler must be able to use a ready once, to
// initialize a fresh one, and to read an error.
#include "check.h"

static int ran;
static int32_t count(void *ctx) { (void)ctx; return ++ran < 0; }
static int32_t fails(void *ctx) { (void)ctx; return lazy_fail(3, "at exit"); }
static lazy_once ready = LAZY_ONCE_INIT, fresh = LAZY_ONCE_INIT, queued = LAZY_ONCE_INIT;

static void at_exit(void) {
    CHECK_IS(lazy_once_call(&ready, count, NULL), LAZY_OK);
    CHECK_IS(lazy_once_call(&fresh, count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    CHECK_IS(lazy_once_init(&queued), LAZY_OK);
    CHECK_IS(lazy_call(count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(ran, 4);
    CHECK_IS(lazy_once_call(&ready, fails, NULL), LAZY_E_CALLBACK);
    CHECK_HAS(lazy_last_error()->message, "at exit");
    finish();
}
__attribute__((destructor)) static void after_the_handlers(void) {
    if (lazy_once_call(&ready, count, NULL) != LAZY_OK) _exit(1);
}

int main(void) {
    CHECK_IS(atexit(at_exit), 0);
    CHECK_IS(lazy_once_call(&queued, count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    return 0;
}
