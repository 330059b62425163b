// Guards against a circle that is seen in lazy_once_init only: each kind of wait, init, init with a place, run, call,
// submit and reset, sleeps in the circle and closes it, in initializers and in queued callbacks. The one that closes it
// is refused, in every pairing, with both onces and both threads in the message; what it handed in is neither run nor
// queued nor dropped.
#include "waiters.h"

typedef lazy_status (*wait_fn)(lazy_once *once);
static const wait_fn waits[] = { wait_in_init, wait_in_init_at, wait_in_run, wait_in_call, wait_in_submit, wait_in_reset };
enum { KINDS = sizeof waits / sizeof waits[0] };
static lazy_once a, b;
static wait_fn sleeping, closing;
static bool in_drain;
static gate a_owned, b_owned;
static waiter first, second;

static int32_t initialize_a(void *ctx) {
    (void)ctx;
    gate_open(&a_owned);
    gate_wait(&b_owned);
    atomic_store(&first.id, thread_id());
    CHECK_IS(sleeping(&b), LAZY_OK);
    return 0;
}
static int32_t initialize_b(void *ctx) {
    (void)ctx;
    gate_open(&b_owned);
    gate_wait(&a_owned);
    waiter_asleep(&first);
    lazy_info before = LAZY_INFO_INIT, after = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&a, &before), LAZY_OK);
    CHECK_IS(closing(&a), LAZY_E_DEADLOCK);
    const char *message = lazy_last_error()->message;
    char threads[2][32];
    snprintf(threads[0], sizeof threads[0], "thread %d", atomic_load(&first.id));
    snprintf(threads[1], sizeof threads[1], "thread %d", thread_id());
    for (int i = 0; i < 2; i++) CHECK_HAS(message, threads[i]);
    CHECK_HAS(message, "\"a\"");
    CHECK_HAS(message, "\"b\"");
    CHECK_IS(atomic_load(&handed_in_ran) + atomic_load(&handed_in_dropped), 0);
    CHECK_IS(lazy_once_info(&a, &after), LAZY_OK);
    CHECK_IS(after.queued, before.queued);
    CHECK_IS(after.phase, in_drain ? LAZY_DRAINING : LAZY_INITIALIZING);
    return 0; /* it can do without */
}
static const lazy_config config_a = { .size = sizeof(lazy_config), .name = "a", .initialize = initialize_a };
static const lazy_config config_b = { .size = sizeof(lazy_config), .name = "b", .initialize = initialize_b };
static const lazy_config drained_a = { .size = sizeof(lazy_config), .name = "a" };
static const lazy_config drained_b = { .size = sizeof(lazy_config), .name = "b" };

int main(void) {
    for (int i = 0; i < 2 * KINDS * KINDS; i++) {
        sleeping = waits[i % KINDS];
        closing = waits[i / KINDS % KINDS];
        in_drain = i >= KINDS * KINDS;
        a = (lazy_once)LAZY_ONCE_WITH(in_drain ? &drained_a : &config_a);
        b = (lazy_once)LAZY_ONCE_WITH(in_drain ? &drained_b : &config_b);
        if (in_drain) CHECK_IS(lazy_once_call(&a, initialize_a, NULL), LAZY_QUEUED);
        if (in_drain) CHECK_IS(lazy_once_call(&b, initialize_b, NULL), LAZY_QUEUED);
        a_owned = b_owned = (gate)GATE_INIT;
        atomic_store(&handed_in_ran, 0);
        atomic_store(&handed_in_dropped, 0);
        waiter_start(&second, &b, wait_in_init);
        gate_wait(&b_owned);
        waiter_start(&first, &a, wait_in_init);
        CHECK_IS(waiter_join(&first), LAZY_OK);
        CHECK_IS(waiter_join(&second), LAZY_OK);
        CHECK_IS(atomic_load(&handed_in_ran), sleeping == wait_in_call || sleeping == wait_in_submit);
        CHECK_IS(atomic_load(&handed_in_dropped), sleeping == wait_in_submit);
        CHECK_IS(lazy_once_is_initialized(&b), sleeping != wait_in_reset);
        CHECK(lazy_once_is_initialized(&a));
        CHECK_IS(lazy_once_close(&a), LAZY_OK);
        CHECK_IS(lazy_once_close(&b), LAZY_OK);
    }
    return finish();
}
