// not-under: asan tsan: the allocator of the tool is not made usable again in a child of a process with threads
// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a child that hangs because its parent forked while another thread was using the library for the very first
// time: nobody may take a lock before the handlers that free it in a child are in place. Each round is a fresh process, which
// has four threads use onces and forks at the same moment; its child uses one too.
#include "check.h"
#include "forked_child.h"
#include <stdatomic.h>
#include <time.h>

static atomic_int stop, started;
static int32_t nothing(void *ctx) {
    (void)ctx;
    return 0;
}
static void *use(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&started, 1);
    while (!atomic_load(&stop)) {
        lazy_once once = LAZY_ONCE_INIT;
        CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_run(&once, nothing, NULL), LAZY_OK);
    }
    return NULL;
}
static void grandchild(void) {
    lazy_once once = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_run(&once, nothing, NULL), LAZY_OK);
}
static void one_process(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start(use, NULL);
    while (!atomic_load(&started)) sched_yield();
    in_child(grandchild);
    atomic_store(&stop, 1);
    for (int i = 0; i < 4; i++) join(threads[i]);
}

int main(void) {
    const time_t enough = time(NULL) + 15; /* a gate without the right order failed after some thousand processes */
    for (long i = rounds(20000); i > 0 && time(NULL) < enough; i--) in_child(one_process);
    return finish();
}
