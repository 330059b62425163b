// Guards against work that is lost or done twice when the driver refuses a queued callback's: every thread that waits gets the driver's number and
// text, what ran before stays done, and the next attempt goes on with the refused launch. The sum on the device is exact.
#include "device_counter.h"
#include <stdatomic.h>

enum { THREADS = 4, CALLS = 9, REFUSED = 4 };
static struct call { atomic_uint lanes; atomic_int ran; } calls[CALLS];
static atomic_int refusal, deferred, ready;
static pthread_barrier_t begin;

/* A launch of no threads is refused; nothing of it stays. */
static int32_t adds(void *ctx) {
    struct call *call = (struct call *)ctx;
    void *parameters[] = { &counter };
    char said[256];
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    int result = driver.LaunchKernel(kernels.count, 1, 1, 1, atomic_load(&call->lanes), 1, 1, 0, NULL, parameters, NULL);
    if (result) {
        atomic_store(&refusal, result);
        atomic_store(&call->lanes, 1 + REFUSED);
        return lazy_fail(result, driver_text(result, said, sizeof said));
    }
    atomic_fetch_add(&call->ran, 1);
    return 0;
}
static void *tries(void *ctx) {
    pthread_barrier_wait(&begin);
    lazy_status status = lazy_init();
    if (status == LAZY_OK) {
        atomic_fetch_add(&ready, 1);
        return ctx;
    }
    CHECK_IS(status, LAZY_E_DEFERRED);
    CHECK_IS(lazy_last_error()->code, atomic_load(&refusal));
    CHECK_HAS(lazy_last_error()->message, "CUDA_ERROR_INVALID_VALUE");
    atomic_fetch_add(&deferred, 1);
    return ctx;
}

int main(void) {
    pthread_t threads[THREADS];
    uint32_t sum = 0;
    need_device();
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_call(open_counter, NULL), LAZY_QUEUED);
    for (uint32_t i = 0; i < CALLS; i++) {
        sum += 1 + i;
        atomic_store(&calls[i].lanes, i == REFUSED ? 0 : 1 + i);
        CHECK_IS(lazy_call(adds, &calls[i]), LAZY_QUEUED);
    }
    pthread_barrier_init(&begin, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) threads[i] = start(tries, NULL);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    CHECK(atomic_load(&deferred) >= 1); /* who comes late makes the next attempt */
    CHECK_IS(atomic_load(&deferred) + atomic_load(&ready), THREADS);
    CHECK_IS(lazy_init(), LAZY_OK);
    for (int i = 0; i < CALLS; i++) CHECK_IS(atomic_load(&calls[i].ran), 1);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    CHECK_IS(counted(counter, NULL), sum);
    return finish();
}
