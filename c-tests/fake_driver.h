/* What the fake driver of gpu/fake_libcuda.c asks its program for: each entry counts its calls, fails as often as it is told, and stays
   inside until it is let go. The program is linked with -rdynamic. For C11. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H
#include "callers.h"
#include <dlfcn.h>
#include <limits.h>

typedef struct entry {
    const char *name;
    atomic_int calls, fails, result; /* so many calls fail with this result */
    void (*inside)(void);            /* called inside, if set */
} entry;
static entry entries[] = {
    { .name = "cuInit" }, { .name = "cuDriverGetVersion" }, { .name = "cuDeviceGetCount" },
    { .name = "cuDeviceGet" }, { .name = "cuDevicePrimaryCtxRetain" }, { .name = "cuCtxSetCurrent" },
};
static atomic_int loads;
static void (*on_load)(void); /* called by the library's constructor, if set */
int fake_devices = 2;

static inline entry *entry_of(const char *name) {
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (!strcmp(entries[i].name, name)) return &entries[i];
    }
    CHECK(!"the fake driver has such an entry");
    return NULL;
}
static inline int calls_of(const char *name) { return atomic_load(&entry_of(name)->calls); }
static inline void let_fail(const char *name, int times, int result) {
    atomic_store(&entry_of(name)->fails, times);
    atomic_store(&entry_of(name)->result, result);
}

int fake_result(const char *name);
int fake_result(const char *name) {
    entry *e = entry_of(name);
    atomic_fetch_add(&e->calls, 1);
    if (e->inside) e->inside();
    if (atomic_load(&e->fails) <= 0) return 0;
    atomic_fetch_sub(&e->fails, 1);
    return atomic_load(&e->result);
}

void fake_loaded(void);
void fake_loaded(void) {
    atomic_fetch_add(&loads, 1);
    if (on_load) on_load();
}

/* Loads the fake by its place: whoever asks for its name afterwards gets this one. */
static inline void load_fake(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("LAZYONCE_TEST_LIBRARIES"), name);
    if (!dlopen(path, RTLD_NOW | RTLD_LOCAL)) check_fail(__FILE__, __LINE__, path, dlerror(), "loaded");
}
/* The context that is current on this thread. */
static inline void *current_context(void) {
    void *context = NULL, *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*get)(void **) = NULL;
    CHECK(library != NULL);
    *(void **)&get = dlsym(library, "cuCtxGetCurrent");
    CHECK(get != NULL);
    CHECK_IS(get(&context), 0);
    CHECK_IS(dlclose(library), 0);
    return context;
}

/* A call failed with this status, and its error says so. */
#define CHECK_REFUSED(call, wanted, driver_result, part) \
    do { \
        CHECK_IS(call, wanted); \
        CHECK_IS(lazy_last_error()->status, wanted); \
        CHECK_IS(lazy_last_error()->code, driver_result); \
        CHECK_HAS(lazy_last_error()->message, part); \
    } while (0)

static inline lazy_cuda_info queried(void) {
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    CHECK_IS(lazy_cuda_query(&info), LAZY_OK);
    return info;
}
#endif
