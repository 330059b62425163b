/* A CUDA driver for machines without one: it has the entries that the library uses, and does what the program that loads it says.
   It knows what the documentation says and nothing about a GPU: what runs on it is fault injection, and every process that loads
   it says "fake driver". -DWITHOUT_<entry> leaves an entry out, -DWITHOUT_texts the texts of the results. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* The program's, if it has them: the result of an entry (0: it does its work), and what the constructor calls. */
int fake_result(const char *entry) __attribute__((__weak__));
void fake_loaded(void) __attribute__((__weak__));
extern int fake_devices __attribute__((__weak__));

enum { FIRST_DEVICE = 1000, MOST = 16, INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };

static atomic_int initialized_by; /* the process */
static int contexts[MOST];        /* their addresses stand for them */
static _Thread_local void *current;

__attribute__((__constructor__)) static void loaded(void) {
    puts("fake driver");
    if (fake_loaded) fake_loaded();
}
static int refused(const char *entry) { return fake_result ? fake_result(entry) : 0; }
static int devices(void) { return &fake_devices ? fake_devices : 2; }
static int is_initialized_here(void) { return atomic_load(&initialized_by) == getpid(); }

#ifndef WITHOUT_cuInit
int cuInit(unsigned flags) {
    int result = flags ? INVALID_VALUE : refused("cuInit");
    if (!result && atomic_load(&initialized_by) && !is_initialized_here()) return NOT_INITIALIZED;
    if (!result) atomic_store(&initialized_by, getpid());
    return result;
}
#endif
#ifndef WITHOUT_cuDriverGetVersion
int cuDriverGetVersion(int *version) {
    int result = refused("cuDriverGetVersion");
    if (!result) *version = 13020;
    return result;
}
#endif
#ifndef WITHOUT_cuDeviceGetCount
int cuDeviceGetCount(int *count) {
    int result = refused("cuDeviceGetCount");
    if (!result && !is_initialized_here()) return NOT_INITIALIZED;
    if (!result) *count = devices();
    return result;
}
#endif
#ifndef WITHOUT_cuDeviceGet
int cuDeviceGet(int *device, int ordinal) {
    int result = refused("cuDeviceGet");
    if (!result && !is_initialized_here()) return NOT_INITIALIZED;
    if (!result && (ordinal < 0 || ordinal >= devices())) return INVALID_DEVICE;
    /* A driver says nowhere that a device is its ordinal. */
    if (!result) *device = FIRST_DEVICE + ordinal;
    return result;
}
#endif
#ifndef WITHOUT_cuDevicePrimaryCtxRetain
int cuDevicePrimaryCtxRetain(void **context, int device) {
    int result = refused("cuDevicePrimaryCtxRetain");
    if (!result && !is_initialized_here()) return NOT_INITIALIZED;
    if (!result && (device < FIRST_DEVICE || device >= FIRST_DEVICE + devices())) return INVALID_DEVICE;
    if (!result) *context = &contexts[device - FIRST_DEVICE];
    return result;
}
#endif
#ifndef WITHOUT_cuCtxSetCurrent
int cuCtxSetCurrent(void *context) {
    int result = refused("cuCtxSetCurrent");
    char *at = context, *first = (char *)contexts;
    if (!result && at && (at < first || at >= first + sizeof contexts)) return INVALID_CONTEXT;
    if (!result) current = context;
    return result;
}
#endif
int cuCtxGetCurrent(void **context) {
    *context = current;
    return 0;
}

#ifndef WITHOUT_texts
static const struct { int result; const char *name, *text; } known[] = {
    { 1, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { 2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { 3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
    { 34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library" },
    { 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { 802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized" },
    { 999, "CUDA_ERROR_UNKNOWN", "unknown error" },
};
int cuGetErrorName(int result, const char **name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].result == result) return *name = known[i].name, 0;
    }
    return *name = NULL, INVALID_VALUE;
}
int cuGetErrorString(int result, const char **text) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].result == result) return *text = known[i].text, 0;
    }
    return *text = NULL, INVALID_VALUE;
}
#endif
