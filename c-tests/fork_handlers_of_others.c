// Guards against a fork that hangs on itself: handlers that others registered, before the library's and after them, call in
// from each half of a fork. A ready once works there; any other call works or is refused, and never sleeps; afterwards parent
// and child go on as if nobody had called.
#include "callers.h"
#include "forked_child.h"
#include "requests.h"

static lazy_once ready = LAZY_ONCE_INIT, queued = LAZY_ONCE_INIT, fresh = LAZY_ONCE_INIT;
static atomic_int halves, ran;

static lazy_status allowed(lazy_status status) {
    CHECK(status >= 0 || status == LAZY_E_DEADLOCK);
    return status;
}
static void call_in(void) {
    lazy_info info = LAZY_INFO_INIT;
    lazy_once own = LAZY_ONCE_INIT;
    CHECK(lazy_once_is_initialized(&ready) && !lazy_once_is_initialized(&queued));
    CHECK_IS(lazy_once_call(&ready, count, &ran), LAZY_OK);
    CHECK(!lazy_once_is_initializing(&queued));
    allowed(lazy_once_info(&queued, &info));
    if (allowed(lazy_once_call(&queued, nothing, NULL)) == LAZY_QUEUED) atomic_fetch_add(&halves, 1000);
    allowed(lazy_once_call(&fresh, nothing, NULL));
    if (allowed(lazy_once_call(&own, nothing, NULL)) == LAZY_QUEUED) CHECK_IS(lazy_once_init(&own), LAZY_OK);
    atomic_fetch_add(&halves, 1);
}
static void check_use(void) {
    uint64_t known = 1 + (uint64_t)(atomic_load(&halves) / 1000);
    CHECK_IS(queued_in(&queued), known);
    CHECK_IS(lazy_once_call(&queued, count, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&queued), LAZY_OK);
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    CHECK_IS(lazy_once_reset(&fresh), LAZY_OK);
}
static void grandchild(void) { check_use(); }
static void child(void) {
    CHECK_IS(atomic_load(&halves) % 1000, 4);
    in_child(grandchild);
    check_use();
}

int main(void) {
    CHECK_IS(pthread_atfork(call_in, call_in, call_in), 0); /* before the library's first use */
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    CHECK_IS(lazy_once_call(&queued, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(pthread_atfork(call_in, call_in, call_in), 0);
    in_child(child);
    CHECK_IS(atomic_load(&halves) % 1000, 4);
    check_use();
    return finish();
}
