// Guards against an enter that crosses with the end of its attempt: workers enter, use and leave a permit over and over
// while the attempt ends and the next ones come and go. Each enter is LAZY_OK or LAZY_E_NOT_FOUND; whoever is refused is
// no holder, leave agrees with enter, every call runs once, and no attempt is left open.
#include "waiters.h"

enum { WORKERS = 3 };
static lazy_once once;
static atomic_ullong shared[4];
static atomic_int round_number, finished, entered_ok, taken;
static pthread_barrier_t round_begins, lent, round_ends;

static lazy_permit shared_permit(void) {
    lazy_permit permit;
    for (int i = 0; i < 4; i++) permit.opaque[i] = atomic_load(&shared[i]);
    return permit;
}
static void *worker(void *ctx) {
    (void)ctx;
    for (;;) {
        pthread_barrier_wait(&round_begins);
        if (atomic_load(&finished)) return NULL;
        pthread_barrier_wait(&lent);
        lazy_permit permit = shared_permit();
        for (int i = 0; i < 20; i++) {
            lazy_status status = lazy_permit_enter(&permit);
            if (status == LAZY_OK) {
                atomic_fetch_add(&entered_ok, 1);
                lazy_status queued = lazy_once_call(&once, handed_in, NULL);
                CHECK(queued == LAZY_QUEUED || queued == LAZY_OK);
                atomic_fetch_add(&taken, 1);
                CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
            } else {
                CHECK_IS(status, LAZY_E_NOT_FOUND);
                CHECK(!lazy_once_is_initializing(&once));
                CHECK_IS(lazy_permit_leave(&permit), LAZY_E_NOT_FOUND);
            }
        }
        pthread_barrier_wait(&round_ends);
    }
}
static int32_t lends(void *ctx) {
    (void)ctx;
    lazy_permit permit;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    for (int i = 0; i < 4; i++) atomic_store(&shared[i], permit.opaque[i]);
    pthread_barrier_wait(&lent);
    for (int i = atomic_load(&round_number) % 50; i > 0; i--) sched_yield();
    return atomic_load(&round_number) % 3 == 0;
}

int main(void) {
    pthread_t threads[WORKERS];
    pthread_barrier_init(&round_begins, NULL, WORKERS + 1);
    pthread_barrier_init(&lent, NULL, WORKERS + 1);
    pthread_barrier_init(&round_ends, NULL, WORKERS + 1);
    for (int i = 0; i < WORKERS; i++) threads[i] = start(worker, NULL);
    for (long i = rounds(3000); i > 0; i--) {
        atomic_store(&round_number, (int)i);
        pthread_barrier_wait(&round_begins);
        CHECK_IS(lazy_once_run(&once, lends, NULL), i % 3 ? LAZY_OK : LAZY_E_INIT);
        if (i % 2) CHECK(lazy_once_run(&once, own_initializer, NULL) == LAZY_OK); /* another one, while they try the old permit */
        CHECK(!lazy_once_is_initializing(&once));
        pthread_barrier_wait(&round_ends);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_IS(atomic_load(&handed_in_ran), atomic_load(&taken));
        CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    }
    atomic_store(&finished, 1);
    pthread_barrier_wait(&round_begins);
    for (int i = 0; i < WORKERS; i++) join(threads[i]);
    CHECK(atomic_load(&entered_ok) > 0);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
