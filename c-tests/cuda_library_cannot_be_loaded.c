// library: libcuda.so.1 gpu/broken_library.c -Wl,-z,lazy
// library: libcuda.so gpu/broken_library.c -Wl,-z,lazy -Dfunction_that_nobody_has=another_that_nobody_has
// Guards against a missing driver library that crashes, is taken for a failed initializer, or loses the queue: neither of its names can
// be loaded here, which is the same to the loader's caller as a machine without a driver, on any machine.
#include "callers.h"

static lazy_once once = LAZY_ONCE_INIT;
static atomic_int ran;

static void check_unavailable(lazy_status status) {
    CHECK_IS(status, LAZY_E_UNAVAILABLE);
    CHECK_IS(lazy_last_error()->code, 0);
    CHECK_HAS(lazy_last_error()->message, "no CUDA driver library");
    CHECK_HAS(lazy_last_error()->message, "libcuda.so.1");
    CHECK_HAS(lazy_last_error()->message, "function_that_nobody_has");
    /* The other one is broken in a way of its own. */
    CHECK_HAS(lazy_last_error()->message, "another_that_nobody_has");
}

int main(void) {
    lazy_cuda_info info = { sizeof info, 7, 7, "seven" };
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    for (int i = 0; i < 3; i++) {
        errno = 77;
        check_unavailable(lazy_once_init(&once));
        CHECK_HAS(lazy_last_error()->once, "cuda");
        check_unavailable(lazy_cuda_query(&info));
        CHECK_IS(errno, 77);
        CHECK_IS(info.driver_version, 7);
        CHECK_IS(info.device_count, 7);
        CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
    }
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(info_of(&once).queued, 1);
    CHECK_IS(atomic_load(&ran), 0);
    /* The library goes on without it. */
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(lazy_once_run(lazy_default(), nothing, NULL), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
