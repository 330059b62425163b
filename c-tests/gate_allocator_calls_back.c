// preload: calling_malloc.c
// not-under: asan tsan valgrind: the tool has an allocator of its own, which calls nothing back
// Guards against a library that allocates or frees while it holds a lock, or in the middle of a change: a profiler's
// malloc asks is_initialized and hands in calls for the same once and for the default whenever this library allocates.
// Nothing hangs, each of those calls runs exactly once, and what fails in there replaces nobody's error.
#include "callers.h"
#include "dumped.h"
#include <dlfcn.h>

static void (*call_from_malloc)(void (*hook)(void));
static _Thread_local lazy_once *current;
static atomic_int hooked, taken, ran, taken_by_default, ran_in_default, fails_inside;

static void from_malloc(void) {
    lazy_status status;
    atomic_fetch_add(&hooked, 1);
    (void)is_initialized();
    (void)lazy_once_is_initializing(current);
    if (!lazy_once_is_initialized(current) || atomic_load(&hooked) % 4 == 0) {
        status = lazy_once_call(current, count, &ran);
        CHECK(status == LAZY_OK || status == LAZY_QUEUED);
        atomic_fetch_add(&taken, 1);
    }
    status = lazy_call(count, &ran_in_default);
    CHECK(status == LAZY_OK || status == LAZY_QUEUED);
    atomic_fetch_add(&taken_by_default, 1);
    if (atomic_load(&fails_inside)) CHECK_IS(lazy_once_call(current, NULL, NULL), LAZY_E_INVALID);
}
/* Does it with the hook on, and checks that the error is its own. */
#define HOOKED(wanted, call) do { \
        call_from_malloc(from_malloc); \
        lazy_status status_ = (call); \
        call_from_malloc(NULL); \
        CHECK_IS(status_, (wanted)); \
        if (status_ < 0) CHECK_IS(lazy_last_error()->status, (wanted)); \
    } while (0)

static int32_t fails(void *ctx) {
    (void)ctx;
    return lazy_fail(61, "as it was told to");
}
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
    int null = open("/dev/null", O_WRONLY);
    HOOKED(LAZY_OK, lazy_dump(null));
    close(null);
    atomic_store(&request_fails, 0);
    HOOKED(LAZY_OK, lazy_once_init(once));
    HOOKED(LAZY_E_CALLBACK, lazy_once_call(once, fails, NULL));
    HOOKED(LAZY_E_TOO_LATE, lazy_once_configure(once, (config.name = "otherwise", &config)));
    HOOKED(LAZY_OK, lazy_once_reset(once));
    HOOKED(LAZY_OK, lazy_once_init(once));
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), atomic_load(&taken));
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
    static lazy_once onces[3];
    *(void **)&call_from_malloc = dlsym(RTLD_DEFAULT, "call_from_malloc");
    CHECK(call_from_malloc != NULL);
    for (int i = 0; i < 2; i++) {
        atomic_store(&fails_inside, i);
        every_function(&onces[i]);
        CHECK_IS(lazy_init(), LAZY_OK);
        CHECK_IS(atomic_load(&ran_in_default), atomic_load(&taken_by_default));
        if (i == 0) CHECK_IS(lazy_once_reset(lazy_default()), LAZY_OK);
    }
    pthread_t threads[4];
    CHECK_IS(lazy_once_reset(lazy_default()), LAZY_OK);
    for (int i = 0; i < 4; i++) threads[i] = start(racing, &onces[2]);
    for (int i = 0; i < 4; i++) join(threads[i]);
    CHECK_IS(lazy_once_init(&onces[2]), LAZY_OK);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(atomic_load(&ran), atomic_load(&taken));
    CHECK_IS(atomic_load(&ran_in_default), atomic_load(&taken_by_default));
    CHECK(atomic_load(&hooked) > 100);
    return finish();
}
