// not-under: tsan valgrind asan: signals come where the tool likes, and the first two deliver few of them
// Guards against a ready once that a signal handler cannot use: at random instructions of every function, is_initialized and a
// call whose callback succeeds work on it, inline, exported and by line, also where the library itself was interrupted, and
// no error of the interrupted thread is touched.
#include "interrupted.h"

static lazy_once ready = LAZY_ONCE_INIT, once = LAZY_ONCE_INIT;
static bool (*volatile exported_look)(const lazy_once *) = lazy_once_is_initialized;
static lazy_status (*volatile exported_call)(lazy_once *, lazy_fn, void *) = lazy_once_call;
static volatile sig_atomic_t faults, ran;

static int32_t tick(void *ctx) {
    (void)ctx;
    ran++;
    return 0;
}
static int32_t fails(void *ctx) {
    (void)ctx;
    return lazy_fail(3, "no");
}
static void handler(int number) {
    int before = errno;
    (void)number;
    errno = 77;
    ran = 0;
    if (!lazy_once_is_initialized(&ready) || !exported_look(&ready) || !is_initialized() || lazy_once_call(&ready, tick, NULL) ||
        exported_call(&ready, tick, NULL) || LAZY_CALL(&ready, tick, NULL) || lazy_call(tick, NULL) || lazy_init() || ran != 4)
        faults++;
    if (lazy_version() != LAZY_VERSION_NUMBER || !lazy_status_string(LAZY_E_INIT) || lazy_default() == NULL || errno != 77) faults++;
    handled++;
    errno = before;
}
static void work(int round) {
    static int owner;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_once brief = LAZY_ONCE_INIT;
    request.fn = nothing;
    request.owner = &owner;
    switch (round % 8) {
        case 0: lazy_once_init(&once); lazy_once_reset(&once); break;
        case 1: lazy_once_call(&once, nothing, NULL); break;
        case 2: lazy_once_submit(&once, &request, &receipt); lazy_once_cancel(&once, receipt.ticket); break;
        case 3: lazy_once_cancel_owner(&once, &owner); break;
        case 4: lazy_once_configure(&brief, &config); lazy_once_close(&brief); break;
        case 5: lazy_once_named("interrupted"); info_of(&once); break;
        case 6: lazy_once_run(&brief, fails, NULL); lazy_once_close(&brief); break;
        case 7:
            CHECK_IS(lazy_once_call(&ready, fails, NULL), LAZY_E_CALLBACK);
            CHECK_IS(lazy_last_error()->code, 3);
            CHECK_HAS(lazy_last_error()->message, "no");
            break;
    }
}

int main(int argc, char **arguments) {
    (void)argc;
    without_allocator_cache(arguments);
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    CHECK_IS(lazy_init(), LAZY_OK);
    interrupt(handler, work, rounds(40000));
    CHECK_IS(faults, 0);
    return finish();
}
