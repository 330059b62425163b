// Guards against a close that drops the request that is running, or lets the ones behind it run: the running callback
// finishes, then its drop runs, once; its caller gets LAZY_E_CLOSED whether it succeeded or failed; the others are
// dropped and never run; and from inside, the once is as closed as it is for everybody else.
#include "callers.h"

typedef struct job { hold stay; lazy_once *once; atomic_int returned, dropped; } job;

static int32_t work(void *ctx) {
    job *j = (job *)ctx;
    int32_t code = held(&j->stay);
    CHECK_IS(lazy_once_call(j->once, never, NULL), LAZY_E_CLOSED);
    CHECK_IS(lazy_once_init(j->once), LAZY_E_CLOSED);
    atomic_store(&j->returned, 1);
    return code;
}
static void drop_work(void *ctx) {
    job *j = (job *)ctx;
    CHECK_IS(atomic_load(&j->returned), 1);
    atomic_fetch_add(&j->dropped, 1);
}

int main(void) {
    for (int code = 0; code < 2; code++) {
        lazy_once once = LAZY_ONCE_INIT;
        atomic_int others = 0;
        caller owner, waiter;
        job running = { HOLD_INIT, &once, 0, 0 };
        atomic_store(&running.stay.code, code);
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = work;
        request.ctx = &running;
        request.drop = drop_work;
        CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
        request.fn = never;
        request.ctx = &others;
        request.drop = count_drop;
        for (int i = 0; i < 5; i++) CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);

        begin(&owner, in_init, &once);
        gate_wait(&running.stay.inside);
        begin(&waiter, in_call, &once);
        until_waiting(&waiter);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
        CHECK_IS(atomic_load(&others), 5);
        CHECK_IS(atomic_load(&running.dropped), 0);
        CHECK_IS(ended(&waiter), LAZY_E_CLOSED);
        CHECK_IS(lazy_once_call(&once, never, NULL), LAZY_E_CLOSED);
        CHECK_IS(atomic_load(&running.dropped), 0);

        gate_open(&running.stay.go);
        CHECK_IS(ended(&owner), LAZY_E_CLOSED);
        CHECK_IS(atomic_load(&running.dropped), 1);
        CHECK_IS(atomic_load(&running.stay.runs), 1);
        CHECK_IS(atomic_load(&others), 5);
        CHECK_IS(info_of(&once).phase, LAZY_CLOSED);
    }
    return finish();
}
