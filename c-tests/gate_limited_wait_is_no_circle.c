// Guards against a false alarm: a wait with a time limit ends by itself, so a thread that would close a circle over it is
// not refused; it waits, the limited one times out, and both finish. The time-out names the owner and what it is doing.
#include "check.h"

static gate a_owned, b_owned;
static lazy_once a, b;
static int b_thread;

static int32_t needs_b(void *ctx) {
    (void)ctx;
    gate_open(&a_owned);
    gate_wait(&b_owned);
    until_asleep(b_thread);
    CHECK_IS(lazy_once_init(&b), LAZY_E_TIMEOUT);
    const lazy_error *error = lazy_last_error();
    CHECK_HAS(error->message, "\"b\"");
    CHECK_HAS(error->message, "initializing");
    CHECK_IS(error->owner_thread, b_thread);
    return 0;
}
static int32_t needs_a(void *ctx) {
    (void)ctx;
    b_thread = thread_id();
    gate_open(&b_owned);
    CHECK_IS(lazy_once_init(&a), LAZY_OK); /* without a limit, and not refused */
    return 0;
}
static const lazy_config config_a = { sizeof(lazy_config), "a", needs_b, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static const lazy_config config_b = { sizeof(lazy_config), "b", needs_a, 0, 0, 0, 0, 0, 0, 0, 0, 200000000 };
static lazy_once a = LAZY_ONCE_WITH(&config_a), b = LAZY_ONCE_WITH(&config_b);

static void *start_b(void *ctx) {
    (void)ctx;
    gate_wait(&a_owned);
    CHECK_IS(lazy_once_init(&b), LAZY_OK);
    return NULL;
}

int main(void) {
    pthread_t thread = start(start_b, NULL);
    CHECK_IS(lazy_once_init(&a), LAZY_OK);
    join(thread);
    CHECK(lazy_once_is_initialized(&a) && lazy_once_is_initialized(&b));
    return finish();
}
