// library: libcuda.so.1 gpu/broken_library.c -Wl,-z,lazy
// library: libcuda.so gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a driver that is not found because only its development name leads to it.
#include "fake_driver.h"

static lazy_once once = LAZY_ONCE_INIT;

int main(void) {
    const char *library = queried().library;
    CHECK_IS(strcmp(library + strlen(library) - strlen("/libcuda.so"), "/libcuda.so"), 0);
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(1), LAZY_OK);
    return finish();
}
