// preload: failing_malloc.c
// not-under: asan tsan valgrind: the tool has an allocator of its own, which does not refuse
// Guards against an abort, and against a request that is half queued, when memory runs out: with the allocator refusing at
// each call in turn, lazy_call and lazy_init answer LAZY_E_NOMEM or succeed, and what was queued runs exactly once.
#include "check.h"
#include <dlfcn.h>

static void (*allocations_left)(long);
static int ran;
static int32_t count(void *ctx) {
    (void)ctx;
    ran++;
    return 0;
}
static const lazy_config config = { sizeof(lazy_config), "scarce", count, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

/* Queues `requests` callbacks and initializes, with `most` allocations for all of it; says whether memory ran out. */
static int with(long most, int requests) {
    lazy_once once = LAZY_ONCE_WITH(&config);
    int queued = 0, short_of = 0;
    lazy_status status;
    ran = 0;
    allocations_left(most);
    for (int i = 0; i < requests; i++) {
        status = lazy_once_call(&once, count, NULL);
        queued += status == LAZY_QUEUED;
        short_of |= status == LAZY_E_NOMEM;
        if (status != LAZY_QUEUED && status != LAZY_E_NOMEM) {
            allocations_left(-1);
            CHECK_IS(status, LAZY_QUEUED);
        }
    }
    status = lazy_once_init(&once);
    short_of |= status == LAZY_E_NOMEM;
    allocations_left(-1);
    if (status == LAZY_E_NOMEM) {
        CHECK_IS(ran, 0);
        allocations_left(0);
        CHECK(lazy_last_error() != NULL); /* also while there is none */
        allocations_left(-1);
        CHECK_IS(lazy_last_error()->status, LAZY_E_NOMEM);
        CHECK_HAS(lazy_last_error()->message, "memory");
        status = lazy_once_init(&once);
    }
    CHECK_IS(status, LAZY_OK);
    CHECK_IS(ran, queued + 1);
    return short_of;
}

int main(void) {
    lazy_once warm_up = LAZY_ONCE_INIT;
    *(void **)&allocations_left = dlsym(RTLD_DEFAULT, "allocations_left");
    CHECK(allocations_left != NULL);
    CHECK_IS(lazy_once_call(&warm_up, NULL, NULL), LAZY_E_INVALID); /* what a thread's first failure needs is there */
    long most = 0;
    while (with(most, 300)) most++;
    CHECK(most > 3); /* it did run out, in more than one place */
    CHECK(!with(-1, 300));
    return finish();
}
