// flags: -rdynamic
// Guards against a failure in the drain that points at the initializing call: the error must lead back to the line that
// queued the callback, say what the callback said, and leave the once uninitialized.
#include "check.h"

static lazy_once once = LAZY_ONCE_INIT;

static int32_t fails(void *ctx) {
    (void)ctx;
    return lazy_fail(77, "the generator refused the seed");
}
/* Not static, not inlined, nothing left to do after it: its name is what the return address of the call leads to. */
__attribute__((noinline)) lazy_status queue_the_failing_one(void);
lazy_status queue_the_failing_one(void) {
    lazy_status status = lazy_once_call(&once, fails, NULL);
    CHECK_IS(status, LAZY_QUEUED);
    return status;
}

int main(void) {
    queue_the_failing_one();
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK(!lazy_once_is_initializing(&once));
    const lazy_error *error = lazy_last_error();
    CHECK(error != NULL);
    CHECK_IS(error->size, sizeof *error);
    CHECK_IS(error->status, LAZY_E_DEFERRED);
    CHECK_IS(error->code, 77);
    CHECK_IS(error->attempt, 1);
    CHECK_IS(error->thread, thread_id());
    CHECK_HAS(error->message, "the generator refused the seed");
    CHECK_HAS(error->message, "queue_the_failing_one");
    CHECK_HAS(error->site.file, program_invocation_short_name);
    CHECK_HAS(error->site.function, "queue_the_failing_one");
    return finish();
}
