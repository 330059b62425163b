// library: libcuda.so.1 gpu/fake_libcuda.c
// library: libcuda.so gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a toolkit's stub that is taken for the driver: of two libraries the one with the driver's own name is opened, and that one alone.
// A stub that has that name says what it is, by its result.
#include "fake_driver.h"

static lazy_once once = LAZY_ONCE_INIT;

int main(void) {
    const char *folder = getenv("LAZYONCE_TEST_LIBRARIES"), *library = queried().library;
    CHECK_HAS(library, folder);
    CHECK_IS(strcmp(library + strlen(library) - strlen("/libcuda.so.1"), "/libcuda.so.1"), 0);
    CHECK_IS(atomic_load(&loads), 1);
    CHECK(dlopen("libcuda.so", RTLD_LAZY | RTLD_NOLOAD) == NULL);
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    let_fail("cuInit", INT_MAX, 34);
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_UNAVAILABLE, 34, library);
    CHECK_HAS(lazy_last_error()->message, "stub library");
    let_fail("cuDriverGetVersion", 1, 34);
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    CHECK_REFUSED(lazy_cuda_query(&info), LAZY_E_UNAVAILABLE, 34, "stub library");
    return finish();
}
