// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against threads that initialize the driver twice or spin while it takes its time: eight callers sleep until one cuInit is done
// and get its outcome; a call that does not wait is queued meanwhile, and runs once.
#include "fake_driver.h"

enum { CALLERS = 8 };
static lazy_once once = LAZY_ONCE_INIT;
static gate inside = GATE_INIT, go = GATE_INIT;
static atomic_int ran;

static void stay(void) {
    gate_open(&inside);
    gate_wait(&go);
}
static void check_one_attempt(int result, lazy_status wanted) {
    static caller callers[CALLERS];
    CHECK_IS(pthread_mutex_init(&inside.lock, NULL) | pthread_mutex_init(&go.lock, NULL), 0);
    inside.open = go.open = 0;
    int before = calls_of("cuInit");
    let_fail("cuInit", result != 0, result);
    begin(&callers[0], in_init, &once);
    gate_wait(&inside);
    for (int i = 1; i < CALLERS; i++) begin(&callers[i], in_init, &once);
    for (int i = 1; i < CALLERS; i++) until_waiting(&callers[i]);
    CHECK_IS(info_of(&once).waiters, CALLERS - 1);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = count;
    request.ctx = &ran;
    request.flags = LAZY_REQUEST_NO_WAIT;
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
    gate_open(&go);
    for (int i = 0; i < CALLERS; i++) {
        CHECK_IS(ended(&callers[i]), wanted);
        if (wanted < 0) CHECK_IS(callers[i].error.code, result);
        if (wanted < 0) CHECK_HAS(callers[i].message, "cuInit returned 999, CUDA_ERROR_UNKNOWN: unknown error");
    }
    CHECK_IS(calls_of("cuInit"), before + 1);
}

int main(void) {
    entry_of("cuInit")->inside = stay;
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    check_one_attempt(999, LAZY_E_INIT);
    CHECK_IS(atomic_load(&ran), 0);
    check_one_attempt(0, LAZY_OK);
    CHECK_IS(atomic_load(&ran), 2);
    return finish();
}
