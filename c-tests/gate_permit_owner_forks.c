// not-under: tsan: it allows no new threads in a child of a process with threads
// Guards against holders that a child still counts although their threads are not there: the forked initializing thread
// goes on with its attempt, the permit is still good, and a circle that only a vanished holder would keep open is
// refused.
#include "forked_child.h"
#include "waiters.h"

static lazy_once a, b;
static lazy_permit permit;
static gate entered = GATE_INIT, go_on = GATE_INIT;
static waiter other;

static int32_t needs_a(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_init(&a) != LAZY_E_DEADLOCK);
    CHECK(!"nobody ends that wait");
    return 0;
}
static lazy_status start_b(lazy_once *once) {
    return lazy_once_run(once, needs_a, NULL);
}
static void *worker(void *in_parent) {
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK_IS(lazy_once_init(&a), LAZY_IN_PROGRESS);
    if (in_parent) {
        gate_open(&entered);
        gate_wait(&go_on);
    }
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return NULL;
}
static void child(void) {
    CHECK(lazy_once_is_initializing(&a));
    CHECK_IS(lazy_once_init(&a), LAZY_IN_PROGRESS);
    join(start(worker, NULL));
    waiter_start(&other, &b, start_b);
    waiter_asleep(&other);
    CHECK_IS(lazy_once_init(&b), LAZY_E_DEADLOCK);
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&a, &permit), LAZY_OK);
    pthread_t thread = start(worker, &a);
    gate_wait(&entered);
    in_child(child);
    gate_open(&go_on);
    join(thread);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_run(&a, initialize, NULL), LAZY_OK);
    return finish();
}
