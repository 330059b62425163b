// needs: hooks
// Guards against the call that is lost between "is it ready?" and the append: another thread initializes in between, and
// a gate that appends without looking again leaves the callback in a queue that nobody drains. It must run, once, on its
// own thread, with no lock held.
#include "second_look.h"

static atomic_int ran, inner_ran, third_ran;
static int32_t initialize(void *ctx) { (void)ctx; return 0; }
static const lazy_config config = { sizeof(lazy_config), "second look", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static const lazy_config other = { sizeof(lazy_config), "not this", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once, fresh = LAZY_ONCE_INIT;

static int32_t count(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
    return 0;
}
/* Each of these takes a lock that a gate might hold over the callback: of this once, or shared with others. */
static void *third_thread(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&once, count, &third_ran), LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_once_configure(&once, &other), LAZY_E_TOO_LATE);
    CHECK_IS(lazy_once_call(&fresh, count, &third_ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    return NULL;
}
static int32_t callback(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&ran, 1);
    CHECK_IS(thread_id(), atomic_load(&held_thread));
    CHECK(lazy_once_is_initialized(&once));
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_call(&once, count, &inner_ran), LAZY_OK);
    CHECK_IS(lazy_once_configure(&once, &other), LAZY_E_TOO_LATE);
    join(start(third_thread, NULL));
    return 0;
}
static void *thread_a(void *ctx) {
    (void)ctx;
    hold_this_thread();
    CHECK_IS(lazy_once_call(&once, callback, NULL), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 1);
    return NULL;
}

int main(void) {
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    pthread_t a = start(thread_a, NULL);
    gate_wait(&looked);
    CHECK_IS(lazy_once_init(&once), LAZY_OK); /* this is thread B */
    CHECK_IS(atomic_load(&ran), 0);
    gate_open(&go_on);
    join(a);
    CHECK_IS(atomic_load(&hook_calls), 1);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(atomic_load(&inner_ran), 1);
    CHECK_IS(atomic_load(&third_ran), 2);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 1);
    return finish();
}
