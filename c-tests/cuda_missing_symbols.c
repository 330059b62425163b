// library: cuInit/libcuda.so.1 gpu/fake_libcuda.c -DWITHOUT_cuInit
// library: cuDriverGetVersion/libcuda.so.1 gpu/fake_libcuda.c -DWITHOUT_cuDriverGetVersion
// library: cuDeviceGetCount/libcuda.so.1 gpu/fake_libcuda.c -DWITHOUT_cuDeviceGetCount
// library: cuDeviceGet/libcuda.so.1 gpu/fake_libcuda.c -DWITHOUT_cuDeviceGet
// library: cuDevicePrimaryCtxRetain/libcuda.so.1 gpu/fake_libcuda.c -DWITHOUT_cuDevicePrimaryCtxRetain
// library: cuCtxSetCurrent/libcuda.so.1 gpu/fake_libcuda.c -DWITHOUT_cuCtxSetCurrent
// library: second/libcuda.so gpu/fake_libcuda.c -DWITHOUT_cuDeviceGet
// library: texts/libcuda.so.1 gpu/fake_libcuda.c -DWITHOUT_texts
// flags: -rdynamic
// Guards against an entry that is found missing when the driver has been initialized already: whichever it is, cuInit is not called, the
// status says that there is no driver, and the message which entry and of which file, by whichever name it was opened. The texts of errors may be missing: then numbers stand.
#include "fake_driver.h"
#include "forked_child.h"

static const char *missing;
static lazy_once once = LAZY_ONCE_INIT;
static atomic_int ran;

static void without_entry(void) {
    char file[128];
    snprintf(file, sizeof file, "%s/libcuda.so.1", missing);
    load_fake(file);
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    for (int i = 0; i < 2; i++) {
        lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
        CHECK_REFUSED(lazy_once_init(&once), LAZY_E_UNAVAILABLE, 0, missing);
        CHECK_HAS(lazy_last_error()->message, file);
        CHECK_REFUSED(lazy_cuda_query(&info), LAZY_E_UNAVAILABLE, 0, missing);
        CHECK(info.library == NULL);
    }
    CHECK_IS(calls_of("cuInit"), 0);
    CHECK_IS(info_of(&once).attempts, 0);
    CHECK_IS(info_of(&once).queued, 1);
    CHECK_IS(atomic_load(&ran), 0);
}
/* One that only the development name leads to. */
static void without_entry_in_the_second(void) {
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)) return; /* this machine's, which is found first */
    load_fake("second/libcuda.so");
    CHECK_REFUSED(lazy_cuda_query(&info), LAZY_E_UNAVAILABLE, 0, "second/libcuda.so is a stub");
    CHECK_HAS(lazy_last_error()->message, "cuDeviceGet");
}
static void without_texts(void) {
    load_fake("texts/libcuda.so.1");
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    let_fail("cuInit", 1, 999);
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_INIT, 999, "cuInit returned 999");
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
}

int main(void) {
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        missing = entries[i].name;
        in_child(without_entry);
    }
    in_child(without_entry_in_the_second);
    in_child(without_texts);
    return finish();
}
