// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a driver's result that is mapped wrongly, is lost, or is taken for a value that it cannot be: each one from cuInit and
// from the device count, those that no header knows included, gives its status and itself; the once can be tried again, and
// what is queued stays.
#include "fake_driver.h"

static const struct { int result; lazy_status status; const char *says; } table[] = {
    { 100, LAZY_E_UNAVAILABLE, "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected" },
    { 34, LAZY_E_UNAVAILABLE, "stub library, to link with" },
    { 802, LAZY_E_NOT_NOW, "CUDA_ERROR_SYSTEM_NOT_READY" },
    { 804, LAZY_E_INIT, "804" }, { 805, LAZY_E_NOT_NOW, "805" }, { 806, LAZY_E_NOT_NOW, "806" },
    { 807, LAZY_E_NOT_NOW, "807" }, { 808, LAZY_E_NOT_NOW, "808" }, { 809, LAZY_E_INIT, "809" },
    { 3, LAZY_E_INIT, "CUDA_ERROR_NOT_INITIALIZED" }, /* no child, so not forked */
    { 1, LAZY_E_INIT, "CUDA_ERROR_INVALID_VALUE" }, { 2, LAZY_E_INIT, "2" }, { 101, LAZY_E_INIT, "101" },
    { 600, LAZY_E_INIT, "600" }, { 801, LAZY_E_INIT, "801" }, { 803, LAZY_E_INIT, "803" }, { 917, LAZY_E_INIT, "917" },
    { 999, LAZY_E_INIT, "CUDA_ERROR_UNKNOWN: unknown error" }, { 4242, LAZY_E_INIT, "4242" },
    { -1, LAZY_E_INIT, "-1" }, { -7, LAZY_E_INIT, "-7" }, { INT_MAX, LAZY_E_INIT, "2147483647" },
    { INT_MIN, LAZY_E_INIT, "-2147483648" },
};
static lazy_once once = LAZY_ONCE_INIT;
static atomic_int ran;

static void check_results_of(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int attempts = (int)info_of(&once).attempts;
        let_fail(name, 1, table[i].result);
        CHECK_REFUSED(lazy_once_init(&once), table[i].status, table[i].result, table[i].says);
        CHECK_HAS(lazy_last_error()->message, name);
        CHECK_HAS(lazy_last_error()->once, "cuda");
        CHECK_IS(info_of(&once).attempts, attempts + 1);
        CHECK_IS(info_of(&once).phase, LAZY_FRESH);
        CHECK_IS(info_of(&once).queued, 1);
        CHECK_IS(queried().device_count, -1);
        CHECK_REFUSED(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW, 0, "has not initialized");
    }
}

int main(void) {
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    check_results_of("cuInit");
    check_results_of("cuDeviceGetCount");
    for (fake_devices = 0; fake_devices > -3; fake_devices -= 2) {
        CHECK_REFUSED(lazy_once_init(&once), LAZY_E_UNAVAILABLE, 0, "sees no device");
        CHECK_REFUSED(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW, 0, "has not initialized");
        CHECK_IS(queried().device_count, -1);
    }
    CHECK_IS(atomic_load(&ran), 0);
    fake_devices = 2;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(queried().device_count, 2);
    return finish();
}
