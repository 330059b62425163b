// flags: -fexceptions
// Guards against waiters that nobody is: a thread that ends in `wait_detached` before it has parked is not counted any more.
#include "check.h"

static int32_t run_attached(void *ctx, void (*body)(void *arg), void *arg) {
    (void)ctx;
    body(arg);
    return 0;
}
static int32_t wait_detached(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    (void)ctx;
    (void)park;
    (void)interrupt;
    (void)arg;
    pthread_exit(NULL);
}
static const lazy_host host = { sizeof(lazy_host), "ends threads", NULL, run_attached, wait_detached };
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
static void *waits(void *ctx) {
    (void)ctx;
    lazy_once_init(&once);
    CHECK(!"the thread came back");
    return NULL;
}

int main(void) {
    lazy_info info = LAZY_INFO_INIT;
    pthread_t owner = start(initializes, NULL);
    gate_wait(&begun);
    for (int i = 0; i < 3; i++) join(start(waits, NULL));
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(info.phase, LAZY_INITIALIZING);
    CHECK_IS(info.waiters, 0);
    gate_open(&go);
    join(owner);
    CHECK(lazy_once_is_initialized(&once));
    return finish();
}
