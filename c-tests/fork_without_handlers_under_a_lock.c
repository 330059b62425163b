// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// not-under: tsan asan: the allocator of the tool is not made usable again in a child without fork handlers
// Guards against a lock that nobody will release: _Fork and a bare clone at any moment of another thread's work, so that now
// and then that thread is inside the registry or the once. The child is never delayed: it looks, resets, initializes and
// closes. Only a once whose lock was held may have lost its queue, and then its next error and the dump say so.
#include "callers.h"
#include "dumped.h"
#include "raw_fork.h"

enum { CHILDREN = 2000 };
static lazy_once once, idle, turning;
static atomic_int stop, begun;

/* All memory that the worker frees it has taken itself: its own arena of the allocator may be locked in a child, not main's. */
static void *works(void *ctx) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = nothing;
    while (!atomic_load(&stop)) {
        lazy_once brief = LAZY_ONCE_INIT;
        CHECK_IS(lazy_once_submit(&once, &request, &receipt), LAZY_QUEUED);
        CHECK_IS(lazy_once_cancel(&once, receipt.ticket), LAZY_OK);
        CHECK_IS(lazy_once_call(&brief, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_close(&brief), LAZY_OK);
        info_of(&once);
        CHECK_IS(lazy_once_call(&turning, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&turning), LAZY_OK);
        CHECK_IS(lazy_once_reset(&turning), LAZY_OK);
        atomic_store(&begun, 1);
    }
    return ctx;
}
static void child(void) {
    uint64_t queued = info_of(&once).queued;
    CHECK(!lazy_once_is_initialized(&once) && !lazy_once_is_initializing(&once));
    CHECK_IS(info_of(&idle).queued, 1); /* nobody was inside this one */
    if (queued == 0) { /* main's own request is not there: lost, and not without a word */
        CHECK_HAS(dumped(), "lost");
        CHECK_IS(lazy_once_cancel(&once, 1), LAZY_E_NOT_FOUND);
        CHECK_HAS(lazy_last_error()->message, "lost");
    }
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(lazy_once_init(&idle), LAZY_OK);
    lazy_status status = lazy_once_call(&turning, nothing, NULL);
    CHECK(status == LAZY_OK || status == LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&turning), LAZY_OK);
    CHECK_IS(lazy_once_reset(&turning), LAZY_OK);
    CHECK_IS(lazy_once_close(&turning), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    CHECK_IS(lazy_once_call(&idle, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
    pthread_t worker = start(works, NULL);
    while (!atomic_load(&begun)) sched_yield();
    for (long i = rounds(CHILDREN); i > 0; i--) in_raw_child(i % 2 || !has_way(BY_UNDERSCORE_FORK) ? BY_CLONE : BY_UNDERSCORE_FORK, child);
    atomic_store(&stop, 1);
    join(worker);
    return finish();
}
