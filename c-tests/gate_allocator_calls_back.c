// preload: calling_malloc.c
// not-under: asan tsan valgrind: the tool has an allocator of its own, which calls nothing back
// Guards against a library that is entered again while it allocates or frees, by a signal handler or by a profiler's malloc: what
// that needs may be taken, the allocator's own lock above all. Whenever this library allocates, a handler of a signal that is raised
// inside the allocator, and the allocator itself, ask is_initialized and call a ready once, which works, and make each other call,
// which is refused without an allocation; nothing hangs, nothing is taken, and nobody's error is replaced.
#include "callers.h"
#include "dumped.h"
#include <dlfcn.h>
#include <signal.h>

static void (*call_from_malloc)(void (*hook)(void));
static long (*called_again)(void);
static lazy_once ready = LAZY_ONCE_INIT, unused = LAZY_ONCE_INIT;
static lazy_slot slot = LAZY_SLOT_INIT(NULL);
static _Thread_local lazy_once *current;
static atomic_int hooked, ran, by_signal;
static int null;

static int32_t fails(void *ctx) {
    (void)ctx;
    return lazy_fail(61, "as it was told to");
}
static void call_in(void) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_info info = LAZY_INFO_INIT;
    lazy_permit permit = { { 0 } };
    lazy_thread_state *state = NULL;
    void *value = NULL;
    int before = atomic_load(&ran);
    request.fn = never;
    CHECK(lazy_once_is_initialized(&ready) && !is_initialized());
    CHECK_IS(lazy_once_call(&ready, count, &ran), LAZY_OK);
    CHECK(atomic_load(&ran) > before);
    CHECK_IS(lazy_once_call(&ready, fails, NULL), LAZY_E_CALLBACK);
    CHECK(!lazy_once_is_initializing(current));
    CHECK_IS(lazy_call(never, NULL), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_init(), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_call(&unused, never, NULL), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_call(&unused, NULL, NULL), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_submit(&unused, &request, NULL), LAZY_E_DEADLOCK);
    CHECK_IS(LAZY_CALL(&unused, never, NULL), LAZY_E_DEADLOCK);
    CHECK_IS(LAZY_INIT(&unused), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_init_timeout(&unused, 0), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_run(&unused, never, NULL), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_configure(&unused, NULL), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_cancel(&unused, 1), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_reset(&unused), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_close(&unused), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_info(current, &info), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_permit_capture(current, &permit), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_slot_get(&slot, 0, &value), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_slot_set(&slot, 0, &value), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_set_observer(NULL), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_set_host(NULL), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_dump(-1), LAZY_E_INVALID);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    CHECK(lazy_once_named("of a handler") == NULL && lazy_slot_named("of a handler") == NULL);
    CHECK(lazy_last_error() == NULL);
    CHECK_IS(lazy_fail(5, "said by a handler"), 5);
    CHECK(!lazy_slot_has(&slot, 0));
    CHECK(!lazy_slot_has(&slot, 7));
}
static void handler(int number) {
    (void)number;
    atomic_fetch_add(&by_signal, 1);
    call_in();
}
static void from_malloc(void) {
    int before = errno;
    if (atomic_fetch_add(&hooked, 1) % 2) call_in();
    else CHECK_IS(raise(SIGUSR1), 0);
    CHECK_IS(called_again(), 0);
    CHECK_IS(errno, before);
}
/* Does it with the hook on, and checks that the error is its own. */
#define HOOKED(wanted, call) do { \
        call_from_malloc(from_malloc); \
        lazy_status status_ = (call); \
        call_from_malloc(NULL); \
        CHECK_IS(status_, (wanted)); \
        if (status_ < 0) CHECK_IS(lazy_last_error()->status, (wanted)); \
    } while (0)

static int32_t fails_while(void *flag) { return atomic_load((atomic_int *)flag) ? fails(flag) : 0; }

static void every_function(lazy_once *once) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_info info = LAZY_INFO_INIT;
    atomic_int request_fails = 1;
    current = once;
    config.name = "allocating";
    HOOKED(LAZY_OK, lazy_once_configure(once, &config));
    for (int i = 0; i < 300; i++) HOOKED(LAZY_QUEUED, lazy_once_call(once, nothing, NULL));
    request.fn = nothing;
    request.owner = &request;
    for (int i = 0; i < 100; i++) {
        request.key = i % 7 == 0 ? 1 + (uint64_t)i / 7 % 3 : 0;
        request.phase = i % 3;
        request.site = LAZY_HERE;
        HOOKED(LAZY_QUEUED, lazy_once_submit(once, &request, &receipt));
        if (i % 5 == 0) HOOKED(LAZY_OK, lazy_once_cancel(once, receipt.ticket));
    }
    HOOKED(LAZY_E_NOT_FOUND, lazy_once_cancel(once, receipt.ticket + 1000000));
    CHECK(lazy_once_cancel_owner(once, &request) > 0);
    HOOKED(LAZY_OK, lazy_once_info(once, &info));
    HOOKED(LAZY_E_INIT, lazy_once_run(once, fails, NULL));
    CHECK_IS(lazy_last_error()->code, 61);
    CHECK_HAS(lazy_last_error()->message, "as it was told to");
    HOOKED(LAZY_QUEUED, lazy_once_call(once, fails_while, &request_fails));
    HOOKED(LAZY_E_DEFERRED, lazy_once_init(once));
    CHECK_IS(lazy_last_error()->code, 61);
    CHECK_HAS(lazy_last_error()->message, "as it was told to");
    HOOKED(LAZY_OK, lazy_dump(null));
    atomic_store(&request_fails, 0);
    HOOKED(LAZY_OK, lazy_once_init(once));
    HOOKED(LAZY_E_CALLBACK, lazy_once_call(once, fails, NULL));
    HOOKED(LAZY_E_TOO_LATE, lazy_once_configure(once, (config.name = "otherwise", &config)));
    HOOKED(LAZY_OK, lazy_once_reset(once));
    HOOKED(LAZY_OK, lazy_once_init(once));
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    call_from_malloc(from_malloc);
    lazy_once *named = lazy_once_named("allocated with a hook");
    lazy_fail(3, "a text that has to be kept");
    call_from_malloc(NULL);
    CHECK(named != NULL);
}
static void *racing(void *once) {
    current = (lazy_once *)once;
    call_from_malloc(from_malloc);
    for (long i = rounds(2000); i > 0; i--) {
        lazy_status status = i % 3 ? lazy_once_call(current, nothing, NULL) : LAZY_CALL(current, nothing, NULL);
        CHECK(status == LAZY_OK || status == LAZY_QUEUED);
        CHECK_IS(lazy_once_init(current), LAZY_OK);
        if (i % 5 == 0) CHECK_IS(lazy_once_reset(current), LAZY_OK);
    }
    call_from_malloc(NULL);
    return NULL;
}

int main(void) {
    static lazy_once onces[2];
    lazy_info info = LAZY_INFO_INIT;
    *(void **)&call_from_malloc = dlsym(RTLD_DEFAULT, "call_from_malloc");
    *(void **)&called_again = dlsym(RTLD_DEFAULT, "called_again");
    CHECK(call_from_malloc != NULL && called_again != NULL);
    CHECK(signal(SIGUSR1, handler) != SIG_ERR);
    null = open("/dev/null", O_WRONLY);
    CHECK(null >= 0);
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    every_function(&onces[0]);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start(racing, &onces[1]);
    for (int i = 0; i < 4; i++) join(threads[i]);
    CHECK_IS(lazy_once_init(&onces[1]), LAZY_OK);
    CHECK_IS(lazy_once_info(&unused, &info), LAZY_OK);
    CHECK(info.phase == LAZY_FRESH && info.queued == 0);
    CHECK(atomic_load(&hooked) > 100 && atomic_load(&by_signal) > 50);
    return finish();
}
