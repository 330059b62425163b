// Guards against a library that cannot be used where there is no driver, as on most machines that build it: nothing is loaded by setting
// up, and the first attempt says what is missing. Where there is a driver, only what initializes nothing is asked.
#include "callers.h"

static lazy_once once = LAZY_ONCE_INIT;

int main(void) {
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
    if (lazy_cuda_query(&info) == LAZY_OK) {
        printf("a driver: %s, %d\n", info.library, info.driver_version);
        CHECK(info.driver_version >= 1000);
        CHECK_IS(info.device_count, -1);
        return finish();
    }
    CHECK_IS(lazy_last_error()->status, LAZY_E_UNAVAILABLE);
    puts(lazy_last_error()->message);
    CHECK_IS(lazy_once_init(&once), LAZY_E_UNAVAILABLE);
    CHECK_IS(lazy_last_error()->code, 0);
    puts(lazy_last_error()->message);
    return finish();
}
