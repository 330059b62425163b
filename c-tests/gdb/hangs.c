/* Hangs on purpose, with a once in each state that a debugger has to show; .ci/gdb looks at it. Prints "hangs" when it does. With an
   argument it stops by a signal then, for a debugger that has started it. */
#include "../check.h"
#include <signal.h>

static lazy_status (*call)(lazy_once *once, lazy_fn fn, void *ctx) = lazy_once_call; /* not its inline part, which has lines of its own */
static gate never = GATE_INIT;
static int32_t stays(void *ctx) { (void)ctx; gate_wait(&never); return 0; }
static int32_t nothing(void *ctx) { (void)ctx; return 0; }
static int32_t fails(void *ctx) { (void)ctx; return 1; }

/* The documented hang: a queued callback joins a thread that waits for the same once. */
static const lazy_config joined_config = { sizeof(lazy_config), "joined", nothing, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once joined = LAZY_ONCE_WITH(&joined_config);
static lazy_once starting = LAZY_ONCE_INIT, plain = LAZY_ONCE_INIT, loading = LAZY_ONCE_INIT, failed = LAZY_ONCE_INIT,
    queued = LAZY_ONCE_INIT, ready = LAZY_ONCE_INIT, closed = LAZY_ONCE_INIT;
static uint64_t ticket;

static void *waits_for_joined(void *ctx) { CHECK_IS(LAZY_INIT(&joined), LAZY_OK); return ctx; }
static void *cancels(void *ctx) { lazy_once_cancel(&joined, ticket); return ctx; }
static int joiners[3];
static void *noted(void *ctx) {
    int number = (int)(intptr_t)ctx;
    __atomic_store_n(&joiners[number], thread_id(), __ATOMIC_SEQ_CST);
    if (number == 0) return waits_for_joined(NULL);
    if (number == 1) return cancels(NULL);
    lazy_once_init_timeout(&joined, UINT64_C(3600000000000));
    return NULL;
}
static int32_t joins(void *ctx) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(noted, (void *)(intptr_t)i);
    for (int i = 0; i < 3; i++) join(threads[i]);
    (void)ctx;
    return 0;
}
static void *inits(void *once) { LAZY_INIT((lazy_once *)once); return NULL; }
static void configure(lazy_once *once, const char *name, lazy_fn initialize, lazy_fn prepare, uint32_t on_failure) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = name;
    config.initialize = initialize;
    config.prepare = prepare;
    config.on_failure = on_failure;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
}
static void until_hung(lazy_once *once, uint32_t phase, int is_running) {
    lazy_info info = LAZY_INFO_INIT;
    do {
        sched_yield();
        CHECK_IS(lazy_once_info(once, &info), LAZY_OK);
    } while (info.phase != phase || (is_running && info.running.file == NULL));
}
/* Waits until everything hangs. */
static void *watches(void *stop) {
    until_hung(&starting, LAZY_INITIALIZING, 0);
    until_hung(&plain, LAZY_DRAINING, 1);
    until_hung(&joined, LAZY_DRAINING, 1);
    for (int i = 0; i < 3; i++) {
        int id;
        while ((id = __atomic_load_n(&joiners[i], __ATOMIC_SEQ_CST)) == 0) sched_yield();
        until_asleep(id);
    }
    puts("hangs");
    fflush(stdout);
    if (stop != NULL) raise(SIGTRAP);
    return NULL;
}

int main(int count, char **arguments) {
    (void)arguments;
    configure(&failed, "failed", fails, NULL, LAZY_FAIL_STICKY);
    CHECK_IS(lazy_once_init(&failed), LAZY_E_INIT);
    configure(&ready, "ready", nothing, NULL, LAZY_FAIL_SHARE);
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    CHECK_IS(lazy_once_close(&closed), LAZY_OK);
    for (int i = 0; i < 3; i++) CHECK_IS(lazy_once_call(&queued, nothing, NULL), LAZY_QUEUED);
    configure(&starting, "start\ning", stays, NULL, LAZY_FAIL_SHARE);
    start(inits, &starting);
    configure(&loading, "loading", NULL, stays, LAZY_FAIL_SHARE);
    start(inits, &loading);
    CHECK_IS(lazy_once_call(&plain, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(call(&plain, stays, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&plain, nothing, NULL), LAZY_QUEUED);
    start(inits, &plain);
    start(watches, count > 1 ? &ticket : NULL);
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = joins;
    request.site = LAZY_HERE; /* where it was queued */
    CHECK_IS(lazy_once_submit(&joined, &request, &receipt), LAZY_QUEUED);
    ticket = receipt.ticket;
    request.fn = nothing;
    request.key = 1;
    CHECK_IS(lazy_once_submit(&joined, &request, NULL), LAZY_QUEUED);
    return LAZY_INIT(&joined) != LAZY_OK; /* where it was started */
}
