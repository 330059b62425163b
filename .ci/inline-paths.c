/* Every macro and inline path of the header, in the common part of C99 and C++11; exits 0 if all of them answer right. */
#include <lazyonce.h>
#ifdef LAZY_TEST_TWICE
#include <lazyonce.h>
#endif

static int ran;

static int32_t count(void *ctx) {
    ++*(int *)ctx;
    return 0;
}

static int32_t refuse(void *ctx) {
    (void)ctx;
    return lazy_fail(7, "no such device");
}

static void plain(void *ctx) {
    ++*(int *)ctx;
}
LAZY_VOID_FN(plain);

static const lazy_config config = {sizeof(lazy_config), "inline", count, &ran, NULL, NULL, NULL, 0, 0, 0, 0, 0};
static lazy_once bound = LAZY_ONCE_WITH(&config);
static lazy_once shaped = LAZY_ONCE_INIT;
static lazy_once placed = LAZY_ONCE_INIT;
static lazy_once named = LAZY_ONCE_INIT;

static int sized(void) {
    lazy_config a = LAZY_CONFIG_INIT;
    lazy_host b = LAZY_HOST_INIT;
    lazy_request c = LAZY_REQUEST_INIT;
    lazy_receipt d = LAZY_RECEIPT_INIT;
    lazy_info e = LAZY_INFO_INIT;
    return a.size == sizeof a && b.size == sizeof b && c.size == sizeof c && d.size == sizeof d && e.size == sizeof e;
}

int main(void) {
    lazy_site here = LAZY_HERE;
    bool (*address)(const lazy_once *) = lazy_once_is_initialized;
    lazy_status (*run)(lazy_once *, lazy_fn, void *) = lazy_once_run;

    if (!sized() || here.line == 0 || here.function == NULL || here.file == NULL) return 1;
    if (lazy_version() != LAZY_VERSION_NUMBER) return 2;
    if (lazy_once_is_initialized(&bound) || address(&bound) || lazy_once_is_initializing(&bound)) return 3;
    if (lazy_once_call(&bound, count, &ran) != LAZY_QUEUED || ran != 0) return 4;
    if (lazy_once_init(&bound) != LAZY_OK || ran != 2) return 5;
    if (!lazy_once_is_initialized(&bound) || !address(&bound) || lazy_once_init(&bound) != LAZY_OK) return 6;
    if (lazy_once_call(&bound, count, &ran) != LAZY_OK || ran != 3) return 7;
    if (lazy_once_call(&bound, plain_lazy_fn, &ran) != LAZY_OK || ran != 4) return 8;
    if (lazy_once_call(&bound, refuse, NULL) != LAZY_E_CALLBACK || lazy_last_error()->code != 7) return 9;
    if (lazy_once_call(&bound, NULL, NULL) != LAZY_E_INVALID) return 10;
    if (lazy_once_run(&shaped, refuse, NULL) != LAZY_E_INIT || lazy_once_run(&shaped, count, &ran) != LAZY_OK) return 11;
    if (ran != 5 || lazy_once_run(&shaped, count, &ran) != LAZY_OK || run(&shaped, count, &ran) != LAZY_OK) return 12;
    if (ran != 5 || lazy_once_run(&shaped, NULL, NULL) != LAZY_E_INVALID) return 13;
    if (LAZY_INIT(&placed) != LAZY_OK || LAZY_INIT(&placed) != LAZY_OK) return 14;
    if (is_initialized() || lazy_call(count, &ran) != LAZY_QUEUED || lazy_init() != LAZY_OK) return 15;
    if (!is_initialized() || !lazy_is_initialized() || ran != 6 || lazy_call(count, &ran) != LAZY_OK) return 16;
    if (ran != 7 || LAZY_CALL(&named, count, &ran) != LAZY_QUEUED || LAZY_CALL_HELD(&named, count, &ran) != LAZY_QUEUED) return 17;
    if (LAZY_INIT(&named) != LAZY_OK || ran != 9 || LAZY_CALL(&named, count, &ran) != LAZY_OK || ran != 10) return 18;
    if (LAZY_CALL_HELD(&named, count, &ran) != LAZY_OK || ran != 11) return 19;
    if (LAZY_CALL(&named, NULL, NULL) != LAZY_E_INVALID || LAZY_CALL_HELD(&named, NULL, NULL) != LAZY_E_INVALID) return 20;
    if (LAZY_CALL(&named, refuse, NULL) != LAZY_E_CALLBACK || lazy_last_error()->site.line != __LINE__) return 21;
    return 0;
}
