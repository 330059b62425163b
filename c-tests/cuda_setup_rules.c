// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a set-up that loads something, takes away what the program has configured, or is refused the second time: it replaces the
// initializer, its prepare and the fork policy, and keeps the name, the policies and a can_init with its context, however they were given.
#include "fake_driver.h"

static atomic_int asked;
static int32_t not_now(void *ctx) {
    CHECK(ctx == &asked);
    return atomic_fetch_add(&asked, 1) == 0 ? lazy_fail(9, "capturing") : 0;
}
static lazy_config config = { .size = sizeof(lazy_config), .name = "mine", .initialize = never, .ctx = &asked,
    .prepare = never, .can_init = not_now, .on_failure = LAZY_FAIL_STICKY, .timeout_ns = 1 };

/* All of the configuration is there, as far as can be seen: an equal one with the driver's callbacks is one by a second set-up. */
static void check_kept(lazy_once *once) {
    CHECK_IS(lazy_cuda_setup(once, NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(once, NULL), LAZY_OK);
    CHECK_IS(strcmp(info_of(once).name, "mine"), 0);
    atomic_store(&asked, 0);
    CHECK_REFUSED(lazy_once_init(once), LAZY_E_NOT_NOW, 9, "capturing");
    let_fail("cuInit", 1, 999);
    CHECK_REFUSED(lazy_once_init(once), LAZY_E_INIT, 999, "CUDA_ERROR_UNKNOWN");
    /* LAZY_FAIL_STICKY */
    CHECK_REFUSED(lazy_once_init(once), LAZY_E_INIT, 999, "CUDA_ERROR_UNKNOWN");
    CHECK_IS(info_of(once).phase, LAZY_FAILED);
    CHECK_IS(lazy_cuda_setup(once, NULL), LAZY_OK);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(once, NULL), LAZY_OK);
}
static void check_arguments(lazy_once *once) {
    struct { lazy_cuda_options options; uint64_t more; } newer = { LAZY_CUDA_OPTIONS_INIT, 0 };
    lazy_cuda_options options = LAZY_CUDA_OPTIONS_INIT;
    CHECK_IS(lazy_cuda_setup(NULL, NULL), LAZY_E_INVALID);
    options.flags = 1;
    CHECK_REFUSED(lazy_cuda_setup(once, &options), LAZY_E_INVALID, 0, "flags");
    options.flags = 0x80000000;
    CHECK_REFUSED(lazy_cuda_setup(once, &options), LAZY_E_INVALID, 0, "flags");
    options.flags = 0;
    options.size = 8;
    CHECK_REFUSED(lazy_cuda_setup(once, &options), LAZY_E_INVALID, 0, "lazy_cuda_options.size");
    newer.options.size = sizeof newer;
    newer.more = 1;
    CHECK_REFUSED(lazy_cuda_setup(once, &newer.options), LAZY_E_INVALID, 0, "lazy_cuda_options.size");
    CHECK(info_of(once).name == NULL);
    newer.more = 0;
    CHECK_IS(lazy_cuda_setup(once, &newer.options), LAZY_OK);
    CHECK_IS(strcmp(info_of(once).name, "cuda"), 0);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
}
static void check_named(void) {
    lazy_once *once = lazy_once_named("shared"), *other = lazy_once_named("other");
    CHECK_IS(lazy_cuda_setup(once, NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(once, NULL), LAZY_OK);
    CHECK_IS(strcmp(info_of(once).name, "shared"), 0);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(once, NULL), LAZY_OK);
    CHECK_IS(lazy_once_configure(other, &config), LAZY_OK);
    /* Whoever configures a shared one first decides. */
    CHECK_REFUSED(lazy_cuda_setup(other, NULL), LAZY_E_TOO_LATE, 0, "configure");
    CHECK_REFUSED(lazy_once_configure(once, &config), LAZY_E_TOO_LATE, 0, "configure");
}
/* What the header says to do then: the named one has what the program wants, and starts one that is set up. */
static int32_t start_own(void *own) {
    return lazy_once_init((lazy_once *)own) < 0 ? -1 : 0;
}
static void check_named_with_its_own(void) {
    lazy_once *shared = lazy_once_named("with its own"), own = LAZY_ONCE_INIT;
    lazy_config mine = { .size = sizeof mine, .initialize = start_own, .ctx = &own, .on_fork = LAZY_FORK_POISON,
        .timeout_ns = 1 };
    CHECK_IS(lazy_cuda_setup(&own, NULL), LAZY_OK);
    CHECK_IS(lazy_once_configure(shared, &mine), LAZY_OK);
    let_fail("cuInit", 1, 999);
    CHECK_REFUSED(lazy_once_init(shared), LAZY_E_INIT, -1, "with its own");
    CHECK(lazy_last_error()->cause != NULL);
    CHECK_IS(lazy_last_error()->cause->code, 999);
    CHECK_IS(lazy_once_init(shared), LAZY_OK);
    CHECK(lazy_once_is_initialized(&own));
    CHECK_IS(lazy_once_close(&own), LAZY_OK);
}
static void check_too_late(void) {
    lazy_once used = LAZY_ONCE_INIT, closed = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_run(&used, nothing, NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(&used, NULL), LAZY_E_TOO_LATE);
    CHECK_IS(lazy_cuda_setup(&closed, NULL), LAZY_OK);
    CHECK_IS(lazy_once_close(&closed), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(&closed, NULL), LAZY_E_CLOSED);
}

int main(void) {
    lazy_once plain = LAZY_ONCE_INIT, configured = LAZY_ONCE_INIT, bound = LAZY_ONCE_WITH(&config);
    check_arguments(&plain);
    CHECK_IS(lazy_once_configure(&configured, &config), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(&configured, NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(strcmp(info_of(lazy_default()).name, "cuda"), 0);
    CHECK_IS(atomic_load(&loads), 0);
    check_kept(&configured);
    check_kept(&bound);
    check_named();
    check_named_with_its_own();
    check_too_late();
    CHECK_IS(lazy_once_close(&configured), LAZY_OK);
    CHECK_IS(lazy_once_close(&bound), LAZY_OK);
    CHECK_IS(lazy_once_close(&plain), LAZY_OK);
    return finish();
}
