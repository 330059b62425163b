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

/* A lock that its holder never lets go, and a value that is never made. */
static int32_t never_attached(void *ctx, void (*body)(void *arg), void *arg) {
    (void)body;
    (void)arg;
    return stays(ctx);
}
static const lazy_host big_host = { sizeof(lazy_host), "the big lock", NULL, never_attached, NULL };
static lazy_once locked = LAZY_ONCE_INIT;
static int32_t makes(void *ctx, uint32_t index, void **value) { (void)index; (void)value; return stays(ctx); }
static const lazy_slot_config devices_config = { sizeof(lazy_slot_config), "devices", NULL, makes, NULL, NULL, NULL, LAZY_SLOT_PROCESS, 0 };
/* One that waits for a lock on its way back from a wait for a once that is ready, and owns no memory. */
static gate bound_go = GATE_INIT;
static int is_back;
static int32_t waits_to_go(void *ctx) { (void)ctx; gate_wait(&bound_go); return 0; }
static int32_t attached(void *ctx, void (*body)(void *arg), void *arg) { (void)ctx; body(arg); return 0; }
static int32_t never_back(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    (void)interrupt;
    park(arg);
    __atomic_store_n(&is_back, 1, __ATOMIC_SEQ_CST);
    return stays(ctx);
}
static const lazy_host kept_host = { sizeof(lazy_host), "kept", NULL, attached, never_back };
static const lazy_config bound_config = { .size = sizeof(lazy_config), .name = "bou\"nd", .initialize = waits_to_go, .host = &kept_host };
static lazy_once bound = LAZY_ONCE_WITH(&bound_config), observed = LAZY_ONCE_INIT;
static lazy_slot devices = LAZY_SLOT_INIT(&devices_config);
static int stuck[7];
static void *gets(void *number) {
    void *value;
    __atomic_store_n((int *)number, thread_id(), __ATOMIC_SEQ_CST);
    lazy_slot_get(&devices, 7, &value); /* where a value was asked for */
    return NULL;
}

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
static void *inits_locked(void *number) {
    __atomic_store_n((int *)number, thread_id(), __ATOMIC_SEQ_CST);
    LAZY_INIT(&locked); /* where the lock was wanted */
    return NULL;
}
static void *inits_bound(void *number) {
    __atomic_store_n((int *)number, thread_id(), __ATOMIC_SEQ_CST);
    LAZY_INIT(&bound);
    return NULL;
}
static void stays_observing(void *number, const lazy_event *event) {
    (void)event;
    __atomic_store_n((int *)number, thread_id(), __ATOMIC_SEQ_CST);
    stays(NULL);
}
/* One whose callback has run and whose drop does not end, and one that asks and gets no answer. */
static void stays_dropping(void *ctx) { stays(ctx); }
static lazy_once dropped = LAZY_ONCE_INIT, asked = LAZY_ONCE_INIT;
static void *inits_stuck(void *number) {
    __atomic_store_n((int *)number, thread_id(), __ATOMIC_SEQ_CST);
    LAZY_INIT(number == &stuck[5] ? &dropped : &asked); /* where two were started */
    return NULL;
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
static void until_stuck(int number) {
    int id;
    while ((id = __atomic_load_n(&stuck[number], __ATOMIC_SEQ_CST)) == 0) sched_yield();
    until_asleep(id);
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
    start(gets, &stuck[0]);
    until_stuck(0);
    start(gets, &stuck[1]);
    start(inits_locked, &stuck[2]);
    until_stuck(1);
    until_stuck(2);
    pthread_t owner = start(inits, &bound);
    until_hung(&bound, LAZY_INITIALIZING, 0);
    start(inits_bound, &stuck[3]);
    until_stuck(3);
    gate_open(&bound_go);
    join(owner);
    while (!__atomic_load_n(&is_back, __ATOMIC_SEQ_CST)) sched_yield();
    until_stuck(3);
    start(inits_stuck, &stuck[5]);
    until_stuck(5);
    start(inits_stuck, &stuck[6]);
    until_stuck(6);
    lazy_observer observer = { sizeof observer, &stuck[4], stays_observing };
    CHECK_IS(lazy_set_observer(&observer), LAZY_OK);
    start(inits, &observed);
    until_stuck(4);
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
    lazy_config of_host = LAZY_CONFIG_INIT;
    of_host.name = "locked";
    of_host.host = &big_host;
    CHECK_IS(lazy_once_configure(&locked, &of_host), LAZY_OK);
    of_host.name = "asked";
    of_host.host = NULL;
    of_host.can_init = stays;
    CHECK_IS(lazy_once_configure(&asked, &of_host), LAZY_OK);
    lazy_request kept = LAZY_REQUEST_INIT;
    kept.fn = nothing;
    kept.drop = stays_dropping;
    kept.site = LAZY_HERE; /* where what is dropped was queued */
    configure(&dropped, "dropped", nothing, NULL, LAZY_FAIL_SHARE);
    CHECK_IS(lazy_once_submit(&dropped, &kept, NULL), LAZY_QUEUED);
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
