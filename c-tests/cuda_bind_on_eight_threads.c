// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a primary context that is retained by each thread that comes first: while one thread is inside the driver seven others sleep,
// then all have the one context; if the driver fails, all are told, and the next ones try again. Another device's bind is not delayed.
#include "fake_driver.h"

enum { THREADS = 8 };
static lazy_once once = LAZY_ONCE_INIT;
static gate inside = GATE_INIT, go = GATE_INIT;
static atomic_int holds;
static void *contexts[THREADS];
static atomic_int bound;

static void stay(void) {
    if (!atomic_exchange(&holds, 0)) return;
    gate_open(&inside);
    gate_wait(&go);
}
static lazy_status in_bind(void *device) {
    lazy_status status = lazy_cuda_bind_thread(*(int *)device);
    if (status == LAZY_OK) contexts[atomic_fetch_add(&bound, 1)] = current_context();
    return status;
}
static void bind_on_all(int result, lazy_status wanted) {
    static int device = 1, other = 0;
    static caller callers[THREADS], elsewhere;
    inside.open = go.open = 0;
    atomic_store(&holds, 1);
    atomic_store(&bound, 0);
    let_fail("cuDevicePrimaryCtxRetain", result != 0, result);
    begin(&callers[0], in_bind, &device);
    gate_wait(&inside);
    for (int i = 1; i < THREADS; i++) begin(&callers[i], in_bind, &device);
    for (int i = 1; i < THREADS; i++) until_waiting(&callers[i]);
    if (result == 0) {
        begin(&elsewhere, in_bind, &other);
        CHECK_IS(ended(&elsewhere), LAZY_OK);
        atomic_store(&bound, 0);
    }
    gate_open(&go);
    for (int i = 0; i < THREADS; i++) {
        CHECK_IS(ended(&callers[i]), wanted);
        if (wanted < 0) CHECK_IS(callers[i].error.code, result);
    }
}

int main(void) {
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    entry_of("cuDevicePrimaryCtxRetain")->inside = stay;
    bind_on_all(2, LAZY_E_INIT);
    CHECK_IS(calls_of("cuDevicePrimaryCtxRetain"), 1);
    CHECK(current_context() == NULL);
    bind_on_all(0, LAZY_OK);
    CHECK_IS(calls_of("cuDevicePrimaryCtxRetain"), 3);
    CHECK_IS(atomic_load(&bound), THREADS);
    for (int i = 0; i < THREADS; i++) CHECK(contexts[i] != NULL && contexts[i] == contexts[0]);
    CHECK_IS(calls_of("cuCtxSetCurrent"), THREADS + 1);
    return finish();
}
