// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a bind that initializes, takes an ordinal for a device, retains a context twice, or leaves a thread with another
// context when it fails: before an initialization it is refused, in a queued callback it works, what the driver refuses is told with its
// result, and can be tried again.
#include "fake_driver.h"

static lazy_once once = LAZY_ONCE_INIT;
static void *first, *second;

static int32_t bind_in_the_drain(void *ctx) {
    (void)ctx;
    CHECK(!lazy_once_is_initialized(&once));
    CHECK(current_context() == NULL);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    first = current_context();
    CHECK(first != NULL);
    return 0;
}
static void check_before(void) {
    CHECK_REFUSED(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW, 0, "lazy_cuda_setup");
    CHECK_REFUSED(lazy_cuda_bind_thread(-1), LAZY_E_NOT_NOW, 0, "lazy_cuda_setup");
}
static void check_ordinals(void) {
    CHECK_REFUSED(lazy_cuda_bind_thread(2), LAZY_E_INVALID, 0, "no device 2");
    CHECK_REFUSED(lazy_cuda_bind_thread(-1), LAZY_E_INVALID, 0, "no device -1");
    CHECK_REFUSED(lazy_cuda_bind_thread(INT_MAX), LAZY_E_INVALID, 0, "has 2");
    CHECK_REFUSED(lazy_cuda_bind_thread(INT_MIN), LAZY_E_INVALID, 0, "has 2");
    CHECK(current_context() == first);
}
static void check_refusal(const char *name, int result, lazy_status status) {
    let_fail(name, 1, result);
    CHECK_IS(lazy_cuda_bind_thread(1), status);
    CHECK_IS(lazy_last_error()->code, result);
    CHECK(lazy_last_error()->once == NULL);
    CHECK(current_context() == first);
}
static void *on_another_thread(void *ctx) {
    (void)ctx;
    CHECK(current_context() == NULL);
    CHECK_IS(lazy_cuda_bind_thread(1), LAZY_OK);
    CHECK(current_context() == second);
    return NULL;
}

int main(void) {
    check_before();
    CHECK_IS(atomic_load(&loads), 0);
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    check_before();
    CHECK_IS(queried().device_count, -1);
    check_before();
    CHECK_IS(lazy_once_call(&once, bind_in_the_drain, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    check_ordinals();
    check_refusal("cuDevicePrimaryCtxRetain", 2, LAZY_E_INIT);
    CHECK_HAS(lazy_last_error()->message, "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
    check_refusal("cuDevicePrimaryCtxRetain", 802, LAZY_E_NOT_NOW);
    check_refusal("cuDevicePrimaryCtxRetain", -4242, LAZY_E_INIT);
    check_refusal("cuDeviceGet", 101, LAZY_E_INIT);
    check_refusal("cuCtxSetCurrent", 999, LAZY_E_INIT);
    CHECK_HAS(lazy_last_error()->message, "cuCtxSetCurrent");
    errno = 55;
    CHECK_IS(lazy_cuda_bind_thread(1), LAZY_OK);
    CHECK_IS(errno, 55);
    second = current_context();
    CHECK(second != NULL && second != first);
    join(start(on_another_thread, NULL));
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    CHECK(current_context() == first);
    /* One success for each device, and the three failures. */
    CHECK_IS(calls_of("cuDevicePrimaryCtxRetain"), 5);
    CHECK_IS(calls_of("cuInit"), 1);
    return finish();
}
