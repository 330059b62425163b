// flags: -fexceptions
// Guards against waiters that are cancelled in their sleep and take the wake of others with them: a third of sixty-four
// are cancelled while the attempt runs. Whether that ends the wait or stays pending behind it, in a cancellation point of
// the callback as well, the others return, each request ran or was dropped once, and the once works on.
#include "waiters.h"

enum { WAITERS = 64, KINDS = 3 };
static lazy_once once;
static waiter waiters[WAITERS];
static atomic_int began, submits_began, dropped;

static int32_t cancellation_point(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
    pthread_testcancel();
    return 0;
}
static void drop(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&dropped, 1);
}
static lazy_status init(lazy_once *gate) {
    lazy_status status = lazy_once_init(gate);
    pthread_testcancel();
    return status;
}
static lazy_status call(lazy_once *gate) {
    lazy_status status = lazy_once_call(gate, cancellation_point, &began);
    pthread_testcancel();
    return status;
}
static const lazy_request counted = { .size = sizeof(lazy_request), .fn = cancellation_point, .ctx = &submits_began,
                                      .drop = drop }; /* not on a stack that a sanitizer would have to clean up */
static lazy_status submit(lazy_once *gate) {
    lazy_status status = lazy_once_submit(gate, &counted, NULL);
    pthread_testcancel();
    return status;
}
static lazy_status (*const kinds[KINDS])(lazy_once *) = { init, call, submit };
static bool is_cancelled(int i) {
    return i / KINDS % 3 == 1;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    for (int i = 0; i < WAITERS; i++) waiter_start(&waiters[i], &once, kinds[i % KINDS]);
    for (int i = 0; i < WAITERS; i++) waiter_asleep(&waiters[i]);
    for (int i = 0; i < WAITERS; i++)
        if (is_cancelled(i)) CHECK_IS(pthread_cancel(waiters[i].thread), 0);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    int calls = 0, submits = 0; /* of those that come back */
    for (int i = 0; i < WAITERS; i++) {
        void *result = join(waiters[i].thread);
        if (is_cancelled(i)) {
            CHECK(result == PTHREAD_CANCELED);
            continue;
        }
        CHECK_IS(atomic_load(&waiters[i].status), LAZY_OK);
        calls += kinds[i % KINDS] == call;
        submits += kinds[i % KINDS] == submit;
    }
    CHECK(atomic_load(&began) >= calls);
    CHECK(atomic_load(&submits_began) >= submits);
    CHECK_IS(atomic_load(&dropped), atomic_load(&submits_began));
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(info.waiters, 0);
    CHECK_IS(wait_in_submit(&once), LAZY_OK);
    CHECK_IS(atomic_load(&handed_in_ran), 1);
    return finish();
}
