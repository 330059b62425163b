// flags: -fexceptions
// Guards against an attempt that a thread takes with it: it leaves its initializer by pthread_exit or is cancelled there.
// Its waiters hear of a failure, take their turn or find it final, as configured; calls queue; the queue is whole, and
// another thread initializes.
#include "thread_ends.h"
#include "waiters.h"

enum { KINDS = 4 };
static lazy_status (*const kinds[KINDS])(lazy_once *) = { wait_in_init, wait_in_run, wait_in_call, wait_in_submit };
static lazy_once once;
static ending end;
static atomic_int attempts;

static int32_t initialize(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&attempts, 1) > 0) return 0;
    CHECK_IS(lazy_once_call(&once, handed_in, NULL), LAZY_QUEUED);
    end_here(&end);
}
static void *ending_thread(void *by_run) {
    if (by_run)
        lazy_once_run(&once, initialize, NULL);
    else
        lazy_once_init(&once);
    CHECK(!"the thread came back");
    return NULL;
}
static void end_one(way how, uint32_t policy) {
    waiter waiters[KINDS];
    lazy_config config = { .size = sizeof config, .name = "left", .initialize = initialize, .on_failure = policy };
    lazy_info info = LAZY_INFO_INIT;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    end = ENDING(how);
    atomic_store(&attempts, 0);
    atomic_store(&handed_in_ran, 0);
    CHECK_IS(wait_in_submit(&once), LAZY_QUEUED);
    pthread_t thread = start(ending_thread, how == LEAVES ? &once : NULL);
    gate_wait(&end.inside);
    for (int i = 0; i < KINDS; i++) waiter_start(&waiters[i], &once, kinds[i]);
    for (int i = 0; i < KINDS; i++) waiter_asleep(&waiters[i]);
    end_thread(&end, thread);
    for (int i = 0; i < KINDS; i++) {
        if (policy == LAZY_FAIL_STICKY || (policy == LAZY_FAIL_SHARE && i < 2)) {
            waiter_saw_the_end(&waiters[i], LAZY_E_INIT);
            CHECK_IS(waiters[i].attempt, 1);
        } else if (policy == LAZY_FAIL_SHARE) {
            CHECK_IS(waiter_join(&waiters[i]), LAZY_QUEUED);
        } else {
            lazy_status status = waiter_join(&waiters[i]);
            CHECK(status == LAZY_OK || (status == LAZY_QUEUED && i >= 2));
        }
    }
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(info.phase, policy == LAZY_FAIL_SHARE ? LAZY_FRESH : policy == LAZY_FAIL_STICKY ? LAZY_FAILED : LAZY_READY);
    if (policy == LAZY_FAIL_STICKY) {
        CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
        CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    }
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    if (policy != LAZY_FAIL_RETRY) CHECK_IS(atomic_load(&attempts), 2); /* a turn in run has its own initializer */
    CHECK_IS(atomic_load(&handed_in_ran), policy == LAZY_FAIL_STICKY ? 2 : 4);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    for (int how = 0; how < WAYS; how++) {
        end_one((way)how, LAZY_FAIL_SHARE);
        end_one((way)how, LAZY_FAIL_RETRY);
        end_one((way)how, LAZY_FAIL_STICKY);
    }
    return finish();
}
