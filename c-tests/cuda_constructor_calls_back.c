// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a driver library whose constructor calls back in and hangs: while it is loaded for an attempt the gate is open, nothing is owned
// and no lock is held, so the constructor queues, asks, and initializes, on this thread and on one of its own.
#include "fake_driver.h"

static lazy_once once = LAZY_ONCE_INIT;
static atomic_int ran;

static void *on_its_own_thread(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    CHECK_IS(info_of(&once).phase, LAZY_FRESH);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK(lazy_once_named("another") != NULL);
    return NULL;
}
static void constructor(void) {
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    join(start(on_its_own_thread, NULL));
    CHECK_IS(calls_of("cuInit"), 0);
    /* Inside prepare, and inside the loader, which lets this thread in again. */
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(calls_of("cuInit"), 1);
    CHECK_IS(atomic_load(&ran), 2);
    CHECK_IS(queried().device_count, 2);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
}

int main(void) {
    on_load = constructor;
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(atomic_load(&loads), 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&loads), 1);
    CHECK_IS(calls_of("cuInit"), 1);
    CHECK_IS(calls_of("cuDevicePrimaryCtxRetain"), 1);
    CHECK_IS(info_of(&once).attempts, 1);
    return finish();
}
