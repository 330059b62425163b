// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a once that takes the devices from another one: where two are set up, and the attempt of the second counts none, or fewer,
// or fails, the first is ready as before, its devices are counted and can be bound.
#include "fake_driver.h"

static lazy_once first = LAZY_ONCE_INIT, second = LAZY_ONCE_INIT;

static void check_first(void) {
    CHECK(lazy_once_is_initialized(&first));
    CHECK_IS(queried().device_count, 2);
    CHECK_IS(lazy_cuda_bind_thread(1), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
}

int main(void) {
    CHECK_IS(lazy_cuda_setup(&first, NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(&second, NULL), LAZY_OK);
    CHECK_IS(lazy_once_init(&first), LAZY_OK);
    check_first();
    for (fake_devices = 0; fake_devices > -3; fake_devices -= 2) {
        CHECK_REFUSED(lazy_once_init(&second), LAZY_E_UNAVAILABLE, 0, "sees no device");
        CHECK_IS(queried().device_count, 2);
    }
    fake_devices = 2;
    check_first();
    let_fail("cuDeviceGetCount", 1, 999);
    CHECK_REFUSED(lazy_once_init(&second), LAZY_E_INIT, 999, "cuDeviceGetCount");
    check_first();
    let_fail("cuInit", 1, 100);
    CHECK_REFUSED(lazy_once_init(&second), LAZY_E_UNAVAILABLE, 100, "cuInit");
    check_first();
    fake_devices = 1;
    CHECK_IS(lazy_once_init(&second), LAZY_OK);
    fake_devices = 2;
    check_first();
    return finish();
}
