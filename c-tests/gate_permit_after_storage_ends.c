// Guards against a permit, or a worker's borrowed right, that reaches for a once which is gone: the attempt has ended, the
// once is closed and its memory unmapped, and only then the worker leaves, ends, or enters the permit again. And a once that
// begins its life at the same place is not the one that the worker entered.
#include "waiters.h"
#include <sys/mman.h>

static lazy_once *once;
static lazy_permit permit;
static gate entered, gone, next_life, judged;
static int stage;

static void *leaves_late(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    gate_open(&entered);
    gate_wait(&gone);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_permit_enter(&permit), LAZY_E_NOT_FOUND);
    return NULL;
}
static void *ends_late(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    gate_open(&entered);
    gate_wait(&gone);
    CHECK_IS(lazy_permit_enter(&permit), LAZY_E_NOT_FOUND);
    return NULL; /* still under the permit */
}
static void *sees_next_life(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    gate_open(&entered);
    gate_wait(&next_life);
    CHECK(!lazy_once_is_initializing(once));
    CHECK_IS(lazy_once_init_timeout(once, 0), LAZY_E_TIMEOUT);
    gate_open(&judged);
    return NULL;
}
static void *(*const workers[])(void *) = { leaves_late, ends_late, sees_next_life };
static pthread_t worker;
static int32_t lends(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(once, &permit), LAZY_OK);
    worker = start(workers[stage], NULL);
    gate_wait(&entered);
    return stage % 2; /* succeeds, fails, succeeds */
}
static int32_t is_judged(void *ctx) {
    (void)ctx;
    gate_open(&next_life);
    gate_wait(&judged);
    return 0;
}

int main(void) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    for (stage = 0; stage < 3; stage++) {
        void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(page != MAP_FAILED);
        once = (lazy_once *)page;
        entered = gone = next_life = judged = (gate)GATE_INIT;
        CHECK_IS(lazy_once_run(once, lends, NULL), stage % 2 ? LAZY_E_INIT : LAZY_OK);
        CHECK_IS(lazy_once_close(once), LAZY_OK);
        if (workers[stage] == sees_next_life) {
            memset(once, 0, sizeof *once);
            CHECK_IS(lazy_once_run(once, is_judged, NULL), LAZY_OK);
            CHECK_IS(lazy_once_close(once), LAZY_OK);
        }
        CHECK_IS(munmap(page, size), 0);
        gate_open(&gone);
        join(worker);
        CHECK_IS(lazy_permit_enter(&permit), LAZY_E_NOT_FOUND);
    }
    return finish();
}
