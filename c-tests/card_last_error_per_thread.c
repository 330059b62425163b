// Guards against one error for the whole process: a thread must find its own, NULL before its first, and keep it through
// calls that succeed and through the failures of others.
#include "check.h"

static int32_t fails(void *code) { return lazy_fail(*(int *)code, *(int *)code == 1 ? "first text" : "second text"); }
static int32_t works(void *ctx) { (void)ctx; return 0; }

static void *other_thread(void *once) {
    static int two = 2;
    CHECK(lazy_last_error() == NULL);
    CHECK_IS(lazy_once_call((lazy_once *)once, works, NULL), LAZY_OK);
    CHECK(lazy_last_error() == NULL);
    CHECK_IS(lazy_once_call((lazy_once *)once, fails, &two), LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 2);
    CHECK_HAS(lazy_last_error()->message, "second text");
    CHECK_IS(lazy_last_error()->thread, thread_id());
    return NULL;
}

int main(void) {
    static int one = 1;
    static lazy_once once = LAZY_ONCE_INIT;
    CHECK(lazy_last_error() == NULL);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK(lazy_last_error() == NULL);
    CHECK_IS(lazy_once_call(&once, fails, &one), LAZY_E_CALLBACK);
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->code, 1);
    join(start(other_thread, &once));
    CHECK_IS(lazy_once_call(&once, works, NULL), LAZY_OK);
    CHECK(lazy_last_error() == error);
    CHECK_IS(error->code, 1);
    CHECK_HAS(error->message, "first text");
    return finish();
}
