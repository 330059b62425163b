// flags: -fexceptions
// Guards against a request run at once that is forgotten when its thread ends in it, by pthread_exit or cancelled: on
// READY, after a wait, inside a queued callback, and on a worker under a permit it is dropped exactly once and run no
// more. Only the one inside a queued callback ends an attempt, and that is a failure like any other.
#include "thread_ends.h"
#include "waiters.h"

static lazy_once once;
static lazy_permit permit;
static ending end;
static atomic_int inner_ran, inner_dropped, outer_ran, outer_dropped;
static waiter bystander;

static int32_t leaves(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&inner_ran, 1);
    end_here(&end);
}
static void drop(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
}
static void *submits(void *with_permit) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = leaves;
    request.ctx = &inner_dropped;
    request.drop = drop;
    if (with_permit) CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    atomic_store(&bystander.id, thread_id());
    lazy_once_submit(&once, &request, NULL);
    CHECK(!"the thread came back");
    return NULL;
}
static int32_t outer(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&outer_ran, 1) == 0) submits(NULL);
    return 0;
}
static void *drains(void *ctx) {
    (void)ctx;
    lazy_once_init(&once);
    CHECK(!"the thread came back");
    return NULL;
}
static int32_t with_worker(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    end_thread(&end, start(submits, &permit));
    CHECK(lazy_once_is_initializing(&once));
    return 0;
}
static pthread_t waiting;
static int32_t with_waiter(void *ctx) {
    (void)ctx;
    atomic_store(&bystander.id, 0);
    waiting = start(submits, NULL);
    waiter_asleep(&bystander);
    CHECK_IS(atomic_load(&inner_ran), 0);
    return 0;
}
static void begin(way how) {
    atomic_int *counters[] = { &inner_ran, &inner_dropped, &outer_ran, &outer_dropped };
    for (int i = 0; i < 4; i++) atomic_store(counters[i], 0);
    end = ENDING(how);
    once = (lazy_once)LAZY_ONCE_INIT;
}
static void ended_once(void) {
    CHECK_IS(atomic_load(&inner_ran), 1);
    CHECK_IS(atomic_load(&inner_dropped), 1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(wait_in_call(&once), LAZY_OK);
    CHECK_IS(atomic_load(&inner_ran), 1);
    CHECK_IS(atomic_load(&inner_dropped), 1);
}

int main(void) {
    for (int how = 0; how < WAYS; how++) {
        begin((way)how); /* on READY */
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        end_thread(&end, start(submits, NULL));
        CHECK(lazy_once_is_initialized(&once));
        ended_once();

        begin((way)how); /* after a wait */
        CHECK_IS(lazy_once_run(&once, with_waiter, NULL), LAZY_OK);
        end_thread(&end, waiting);
        ended_once();

        begin((way)how); /* on a worker */
        CHECK_IS(lazy_once_call(&once, with_worker, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        ended_once();

        begin((way)how); /* inside a queued request */
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = outer;
        request.ctx = &outer_dropped;
        request.drop = drop;
        CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
        pthread_t thread = start(drains, NULL);
        gate_wait(&end.inside);
        waiter_start(&bystander, &once, wait_in_init);
        waiter_asleep(&bystander);
        end_thread(&end, thread);
        waiter_saw_the_end(&bystander, LAZY_E_DEFERRED);
        CHECK_IS(atomic_load(&outer_dropped), 0); /* it is kept */
        ended_once();
        CHECK_IS(atomic_load(&outer_ran), 2);
        CHECK_IS(atomic_load(&outer_dropped), 1);
    }
    return finish();
}
