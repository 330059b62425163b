// Guards against a limit that never comes under a host whose hook calls `interrupt` before `park`: the limit counts that time too.
#include "check.h"
#include <stdatomic.h>

static atomic_int gives_up;
static int32_t run_attached(void *ctx, void (*body)(void *arg), void *arg) {
    (void)ctx;
    body(arg);
    return 0;
}
static int32_t wait_detached(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    (void)ctx;
    if (atomic_load(&gives_up)) return 1;
    interrupt(arg);
    park(arg);
    sched_yield();
    return 0;
}
static const lazy_host host = { sizeof(lazy_host), "sleepless", NULL, run_attached, wait_detached };
static gate begun = GATE_INIT, go = GATE_INIT;
static int32_t initialize(void *ctx) {
    (void)ctx;
    gate_open(&begun);
    gate_wait(&go);
    return 0;
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "held", .initialize = initialize, .host = &host };
static lazy_once once = LAZY_ONCE_WITH(&config);
static void *initializes(void *ctx) {
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return ctx;
}
int main(void) {
    pthread_t owner = start(initializes, NULL);
    gate_wait(&begun);
    CHECK_IS(lazy_once_init_timeout(&once, 20000000), LAZY_E_TIMEOUT);
    atomic_store(&gives_up, 1);
    CHECK_IS(lazy_once_init(&once), LAZY_E_INTERRUPTED);
    gate_open(&go);
    join(owner);
    return finish();
}
