// Guards against a once that must be closed although its user never asked for anything: one that was not configured owns
// no memory once it is ready, or fresh with an empty queue, so its storage may end like that of a std::once_flag.
#include "check.h"
#include <stdatomic.h>

static int failures_left;
static int32_t fails_first(void *ctx) { (void)ctx; return failures_left-- > 0 ? 1 : 0; }
static int32_t nothing(void *ctx) { (void)ctx; return 0; }
static const lazy_config config = { sizeof(lazy_config), "bound", fails_first, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static gate started, proceed;
static atomic_int waiter;

static int32_t blocks(void *ctx) {
    (void)ctx;
    gate_open(&started);
    gate_wait(&proceed);
    return 0;
}
static void *initializing(void *once) {
    CHECK_IS(lazy_once_run((lazy_once *)once, blocks, NULL), LAZY_OK);
    return NULL;
}
static void *waiting(void *once) {
    gate_wait(&started);
    atomic_store(&waiter, thread_id());
    CHECK_IS(lazy_once_call((lazy_once *)once, nothing, NULL), LAZY_OK);
    return NULL;
}
static void check_owns_nothing(lazy_once *once) {
    CHECK(once->impl == NULL);
    memset(once, 0xcd, sizeof *once); /* nobody may look at it any more */
}

int main(void) {
    lazy_once zeroed, plain = LAZY_ONCE_INIT, bound = LAZY_ONCE_WITH(&config), contended = LAZY_ONCE_INIT;
    memset(&zeroed, 0, sizeof zeroed);
    CHECK_IS(lazy_once_init(&zeroed), LAZY_OK);
    check_owns_nothing(&zeroed);

    for (int i = 0; i < 1000; ++i) CHECK_IS(lazy_once_call(&plain, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&plain), LAZY_OK);
    CHECK_IS(lazy_once_call(&plain, nothing, NULL), LAZY_OK);
    check_owns_nothing(&plain);

    failures_left = 2;
    CHECK_IS(lazy_once_init(&bound), LAZY_E_INIT);
    CHECK(bound.impl == NULL); /* fresh again, nothing queued */
    CHECK_IS(lazy_once_call(&bound, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&bound), LAZY_E_INIT);
    CHECK_IS(lazy_once_init(&bound), LAZY_OK);
    check_owns_nothing(&bound);

    const gate closed = GATE_INIT;
    started = proceed = closed;
    pthread_t a = start(initializing, &contended), b = start(waiting, &contended);
    while (!atomic_load(&waiter)) sched_yield();
    until_asleep(atomic_load(&waiter));
    gate_open(&proceed);
    join(a);
    join(b);
    check_owns_nothing(&contended);

    lazy_once used = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_init(&used), LAZY_OK); /* the library is whole after the storage of the others ended */
    return finish();
}
