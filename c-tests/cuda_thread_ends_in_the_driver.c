// library: libcuda.so.1 gpu/fake_libcuda.c -fexceptions
// flags: -rdynamic -fexceptions
// Guards against a driver call that a thread ends in, as by cancellation, and that leaves the process to crash or to hang: the attempt, or the
// making of the context, has failed, and the next thread does it.
#include "fake_driver.h"

static lazy_once once = LAZY_ONCE_INIT;
static atomic_int ends;

static void end(void) {
    if (atomic_exchange(&ends, 0)) pthread_exit(&once);
}
static void *init_and_end(void *ctx) {
    lazy_once_init(&once);
    return ctx;
}
static void *bind_and_end(void *ctx) {
    lazy_cuda_bind_thread(1);
    return ctx;
}
static void *query_and_end(void *ctx) {
    queried();
    return ctx;
}

int main(void) {
    static void *(*const calls[])(void *) = { query_and_end, init_and_end, init_and_end, bind_and_end, bind_and_end, bind_and_end };
    static const char *const in[] = { "cuDriverGetVersion", "cuInit", "cuDeviceGetCount", "cuDeviceGet",
                                      "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent" };
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        if (i == 3) CHECK_IS(lazy_once_init(&once), LAZY_OK);
        entry_of(in[i])->inside = end;
        atomic_store(&ends, 1);
        CHECK(join(start(calls[i], NULL)) == &once);
        CHECK_IS(atomic_load(&ends), 0);
    }
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(1), LAZY_OK);
    CHECK_IS(queried().device_count, 2);
    return finish();
}
