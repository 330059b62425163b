// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a child that uses a driver which did not survive the fork, or is refused one that it may use: forked before anything it
// initializes for itself; forked after the load or the initialization it is told so, by the once and, past a reset, by the driver's 3,
// which says nothing of a fork in a child that was forked earlier. A bind tells a child that may still initialize from one that cannot.
#include "fake_driver.h"
#include "forked_child.h"

static lazy_once once = LAZY_ONCE_INIT;

static void check_works(void) {
    CHECK_IS(queried().device_count, -1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(queried().device_count, 2);
    CHECK_IS(lazy_cuda_bind_thread(1), LAZY_OK);
    CHECK(current_context() != NULL);
}
static void check_three_is_no_fork(void) {
    let_fail("cuInit", 1, 3);
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_INIT, 3, "CUDA_ERROR_NOT_INITIALIZED");
    check_works();
}
static void says_to_initialize(void) {
    CHECK_REFUSED(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW, 0, "yet: initialize a once of lazy_cuda_setup");
    CHECK(!strstr(lazy_last_error()->message, "forked"));
}
static void check_three_is_a_fork(void) {
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    let_fail("cuInit", 1, 3);
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_FORKED, 3, "start the child with exec");
    let_fail("cuInit", 1, 999);
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_INIT, 999, "CUDA_ERROR_UNKNOWN");
}
static void loaded_by_somebody_else(void) {
    lazy_once mine = LAZY_ONCE_INIT;
    CHECK_IS(lazy_cuda_setup(&mine, NULL), LAZY_OK);
    let_fail("cuInit", 1, 3);
    CHECK_REFUSED(lazy_once_init(&mine), LAZY_E_FORKED, 3, "start the child with exec");
    CHECK_IS(lazy_once_close(&mine), LAZY_OK);
}
/* The parent has none: the driver's reason is another one, here and in a child of this one, which is told of its own fork. */
static void loaded_after_the_fork(void) {
    load_fake("libcuda.so.1");
    CHECK_IS(queried().device_count, -1);
    says_to_initialize();
    let_fail("cuInit", 1, 3);
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_INIT, 3, "CUDA_ERROR_NOT_INITIALIZED");
    CHECK(!strstr(lazy_last_error()->message, "forked"));
    in_child(check_three_is_a_fork);
    check_works();
}
static void forked_after_query(void) {
    says_to_initialize();
    check_three_is_a_fork();
    says_to_initialize();
    /* What was only loaded can still be started. */
    check_works();
    in_child(check_three_is_a_fork);
}
static void forked_after_init(void) {
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_FORKED, 0, "cuda");
    CHECK_REFUSED(lazy_once_call(&once, never, NULL), LAZY_E_FORKED, 0, "cuda");
    CHECK_REFUSED(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW, 0, "forked from one that had initialized the CUDA driver");
    CHECK_HAS(lazy_last_error()->message, "start the child with exec");
    CHECK_IS(queried().device_count, -1);
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(info_of(&once).phase, LAZY_FORKED);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    /* The fake refuses by itself what another process has initialized. */
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_FORKED, 3, "start the child with exec");
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_FORKED, 3, "start the child with exec");
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
}
static int32_t in_the_drain(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    in_child(forked_after_init);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    in_child(check_works);
    in_child(check_three_is_no_fork);
    in_child(loaded_after_the_fork);
    CHECK_IS(atomic_load(&loads), 0);
    load_fake("libcuda.so.1");
    in_child(loaded_by_somebody_else);
    CHECK_IS(queried().device_count, -1);
    in_child(forked_after_query);
    CHECK_IS(lazy_once_call(&once, in_the_drain, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    in_child(forked_after_init);
    CHECK_IS(queried().device_count, 2);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    CHECK_IS(calls_of("cuInit"), 1);
    return finish();
}
