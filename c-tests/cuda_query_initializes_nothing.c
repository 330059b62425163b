// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a question that initializes the driver, which would spoil a later fork: asked before, nothing but the version is asked of the
// driver; afterwards the count is there. Only as many bytes are written as the caller has room for.
#include "fake_driver.h"

static lazy_once once = LAZY_ONCE_INIT;

static void check_sizes(void) {
    struct { lazy_cuda_info info; uint64_t more; } newer = { LAZY_CUDA_INFO_INIT, 0 };
    lazy_cuda_info older = { offsetof(lazy_cuda_info, library), 0, 0, "kept" };
    CHECK_IS(lazy_cuda_query(NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_cuda_query(&older), LAZY_OK);
    CHECK_IS(older.driver_version, 13020);
    CHECK_IS(strcmp(older.library, "kept"), 0);
    older.size = offsetof(lazy_cuda_info, driver_version);
    CHECK_REFUSED(lazy_cuda_query(&older), LAZY_E_INVALID, 0, "lazy_cuda_info.size");
    newer.info.size = sizeof newer;
    CHECK_IS(lazy_cuda_query(&newer.info), LAZY_OK);
    CHECK_IS(newer.info.size, sizeof newer);
    newer.more = 1;
    CHECK_REFUSED(lazy_cuda_query(&newer.info), LAZY_E_INVALID, 0, "lazy_cuda_info.size");
}

int main(void) {
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(info_of(&once).phase, LAZY_FRESH);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_dump(2), LAZY_OK);
    CHECK_IS(atomic_load(&loads), 0);
    lazy_cuda_info info = queried();
    CHECK_IS(atomic_load(&loads), 1);
    CHECK_IS(info.driver_version, 13020);
    CHECK_IS(info.device_count, -1);
    CHECK_HAS(info.library, "libcuda.so.1");
    /* Its names are nobody else's. */
    CHECK(dlsym(RTLD_DEFAULT, "cuInit") == NULL);
    CHECK_IS(calls_of("cuDriverGetVersion"), 1);
    let_fail("cuDriverGetVersion", 1, 4242);
    CHECK_REFUSED(lazy_cuda_query(&info), LAZY_E_INIT, 4242, "cuDriverGetVersion returned 4242");
    check_sizes();
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].name, "cuDriverGetVersion")) CHECK_IS(atomic_load(&entries[i].calls), 0);
    }
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(queried().device_count, 2);
    CHECK(queried().library == info.library);
    CHECK_IS(calls_of("cuInit"), 1);
    CHECK_IS(calls_of("cuDeviceGetCount"), 1);
    CHECK_IS(atomic_load(&loads), 1);
    return finish();
}
