/* A GPU, through the driver's own interface, for the programs that need one; `need_device` ends a program where there is none. The entries are
   found at run time, by the names that programs of CUDA 12 are linked to, which later drivers keep. Results are integers, never an
   enumeration: a driver may return any. For C11 and C++17. */
#ifndef DEVICE_H
#define DEVICE_H
#include "backend.h"
#include "forked_child.h"
#include "kernels.h"
#include "philox.h"
#include <sys/mman.h>

/* The number of an address on the device. Contexts, streams, kernels and the like are pointers to nothing that is ours. */
typedef uint64_t device_address;

#define DRIVER_ENTRIES(entry) \
    entry(Init, "cuInit", (unsigned flags)) \
    entry(DriverGetVersion, "cuDriverGetVersion", (int *version)) \
    entry(GetErrorName, "cuGetErrorName", (int result, const char **name)) \
    entry(GetErrorString, "cuGetErrorString", (int result, const char **text)) \
    entry(DeviceGetCount, "cuDeviceGetCount", (int *count)) \
    entry(DeviceGet, "cuDeviceGet", (int *device, int ordinal)) \
    entry(DeviceGetName, "cuDeviceGetName", (char *name, int capacity, int device)) \
    entry(DevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", (int device, unsigned *flags, int *is_active)) \
    entry(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (void **context, int device)) \
    entry(CtxGetCurrent, "cuCtxGetCurrent", (void **context)) \
    entry(CtxSetCurrent, "cuCtxSetCurrent", (void *context)) \
    entry(CtxGetDevice, "cuCtxGetDevice", (int *device)) \
    entry(ModuleLoadDataEx, "cuModuleLoadDataEx", \
          (void **module, const void *image, unsigned count, unsigned *options, void **values)) \
    entry(ModuleGetFunction, "cuModuleGetFunction", (void **function, void *module, const char *name)) \
    entry(MemAlloc, "cuMemAlloc_v2", (device_address *address, size_t size)) \
    entry(MemFree, "cuMemFree_v2", (device_address address)) \
    entry(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (device_address to, const void *from, size_t size, void *stream)) \
    entry(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *to, device_address from, size_t size, void *stream)) \
    entry(StreamCreate, "cuStreamCreate", (void **stream, unsigned flags)) \
    entry(StreamDestroy, "cuStreamDestroy_v2", (void *stream)) \
    entry(StreamSynchronize, "cuStreamSynchronize", (void *stream)) \
    entry(StreamQuery, "cuStreamQuery", (void *stream)) \
    entry(StreamBeginCapture, "cuStreamBeginCapture_v2", (void *stream, unsigned mode)) \
    entry(StreamEndCapture, "cuStreamEndCapture", (void *stream, void **graph)) \
    entry(StreamIsCapturing, "cuStreamIsCapturing", (void *stream, unsigned *status)) \
    entry(ThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", (unsigned *mode)) \
    entry(GraphInstantiate, "cuGraphInstantiateWithFlags", (void **executable, void *graph, unsigned long long flags)) \
    entry(GraphGetNodes, "cuGraphGetNodes", (void *graph, void **nodes, size_t *count)) \
    entry(GraphLaunch, "cuGraphLaunch", (void *executable, void *stream)) \
    entry(GraphExecDestroy, "cuGraphExecDestroy", (void *executable)) \
    entry(GraphDestroy, "cuGraphDestroy", (void *graph)) \
    entry(LaunchKernel, "cuLaunchKernel", \
          (void *function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x, unsigned threads_y, \
           unsigned threads_z, unsigned shared_size, void *stream, void **parameters, void **extra)) \
    entry(LaunchHostFunc, "cuLaunchHostFunc", (void *stream, void (*function)(void *ctx), void *ctx))

#define DRIVER_MEMBER(name, symbol, parameters) int (*name) parameters;
#define DRIVER_FIND(name, symbol, parameters) find_entry(library, symbol, &driver.name, sizeof driver.name);

static struct { DRIVER_ENTRIES(DRIVER_MEMBER) } driver;

enum {
    DRIVER_DEINITIALIZED = 4, DRIVER_NO_DEVICE = 100, DRIVER_NOT_READY = 600, DRIVER_CAPTURE_UNSUPPORTED = 900,
    STREAM_NON_BLOCKING = 1, CAPTURE_GLOBAL = 0, CAPTURE_THREAD_LOCAL = 1, CAPTURE_RELAXED = 2, CAPTURE_ACTIVE = 1,
    JIT_ERROR_LOG = 5, JIT_ERROR_LOG_SIZE = 6
};
static const char driver_library[] = "libcuda.so.1";

/* The driver's own words for one of its results. */
static inline const char *driver_text(int result, char *buffer, size_t capacity) {
    const char *name = NULL, *text = NULL;
    if (driver.GetErrorName) driver.GetErrorName(result, &name);
    if (driver.GetErrorString) driver.GetErrorString(result, &text);
    snprintf(buffer, capacity, "%d (%s: %s)", result, name ? name : "no name", text ? text : "no text");
    return buffer;
}
static inline void check_driver(const char *file, int line, const char *call, int result, int wanted) {
    char got[256], expected[256];
    if (result == wanted) return;
    check_fail(file, line, call, driver_text(result, got, sizeof got), driver_text(wanted, expected, sizeof expected));
}
#define CHECK_DRIVER_IS(call, wanted) check_driver(__FILE__, __LINE__, #call, (call), (wanted))
#define CHECK_DRIVER(call) CHECK_DRIVER_IS(call, 0)

static inline void find_entry(void *library, const char *symbol, void *place, size_t size) {
    void *found = dlsym(library, symbol);
    if (!found) check_fail(__FILE__, __LINE__, symbol, "missing", "in the driver");
    memcpy(place, &found, size);
}
/* Loads the driver's library, if nobody has; initializes nothing. */
static inline void find_driver(void) {
    void *library = dlopen(driver_library, RTLD_NOW | RTLD_LOCAL);
    if (!library) check_fail(__FILE__, __LINE__, driver_library, dlerror(), "loaded");
    DRIVER_ENTRIES(DRIVER_FIND)
}

/* What a child has found out: why there is no GPU, or which one. The driver is started in there for the first time, which may take long on a
   machine without the persistence mode, or with many devices. */
enum { PROBE_SECONDS = 50 };
static struct probed { char missing[256], device[320]; } *probed;

static inline void probe_device(void) {
    int result, count = 0, version = 0;
    char name[128];
    uint32_t library_version = lazy_version();
    void *library = dlopen(driver_library, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(probed->missing, sizeof probed->missing, "%s", dlerror());
        /* One that is there and cannot be loaded is a fault. */
        CHECK_HAS(probed->missing, "libcuda.so.1: cannot open shared object file: No such file");
        return;
    }
    find_driver();
    result = driver.Init(0);
    if (!result) CHECK_DRIVER(driver.DeviceGetCount(&count));
    if (result == DRIVER_NO_DEVICE || (result == 0 && count == 0)) {
        snprintf(probed->missing, sizeof probed->missing, "cuInit is %d, and there are %d devices", result, count);
        return;
    }
    check_driver(__FILE__, __LINE__, "driver.Init(0)", result, 0);
    int device = 0;
    CHECK_DRIVER(driver.DeviceGet(&device, 0));
    CHECK_DRIVER(driver.DeviceGetName(name, sizeof name, device));
    /* Neither is ever taken for the other. */
    if (!strncmp(name, "host:", 5) != is_host_backend) {
        check_fail(__FILE__, __LINE__, is_host_backend ? "--backend=host: the device" : "--backend=cuda: the device", name,
                   is_host_backend ? "the host driver's" : "a GPU: the driver that was found is host_libcuda.c");
    }
    CHECK_DRIVER(driver.DriverGetVersion(&version));
    snprintf(probed->device, sizeof probed->device, "%s, the first of %d, driver for CUDA %d.%d, lazyonce %u.%u.%u", name, count,
             version / 1000, version % 1000 / 10, library_version >> 16, library_version >> 8 & 255, library_version & 255);
}
/* Ends the process as skipped where there is no driver or no device, and only there; as failed if LAZYONCE_REQUIRE_GPU says that there must be
   one, and on the host backend, which has what it needs. This process stays untouched: what the library does first in it is the first. */
static inline void need_device(void) {
    probed = (struct probed *)mmap(NULL, sizeof *probed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(probed != MAP_FAILED);
    in_child_for(PROBE_SECONDS, probe_device);
    if (probed->missing[0]) {
        const char *required = is_host_backend ? ", on the host backend" : is_gpu_required() ? ", and LAZYONCE_REQUIRE_GPU is set" : "";
        fprintf(stderr, "no GPU here: %s%s\n", probed->missing, required);
        fflush(NULL);
        _exit(*required ? 1 : 77);
    }
    printf("%s\n", probed->device);
}

/* The kernels, in the primary context of the first device. */
static struct { void *fill, *advance, *count, *spin; } kernels;

static inline void load_kernels(void) {
    static char log[8192];
    unsigned options[] = { JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE };
    void *values[] = { log, (void *)(uintptr_t)sizeof log }, *module = NULL;
    int result = driver.ModuleLoadDataEx(&module, kernels_text, 2, options, values);
    if (result) fprintf(stderr, "the driver's compiler says: %s\n", log);
    check_driver(__FILE__, __LINE__, "driver.ModuleLoadDataEx(kernels_text)", result, 0);
    CHECK_DRIVER(driver.ModuleGetFunction(&kernels.fill, module, "philox_fill"));
    CHECK_DRIVER(driver.ModuleGetFunction(&kernels.advance, module, "philox_advance"));
    CHECK_DRIVER(driver.ModuleGetFunction(&kernels.count, module, "count"));
    CHECK_DRIVER(driver.ModuleGetFunction(&kernels.spin, module, "spin"));
}
/* A callback that needs the driver initialized: for the head of a queue, before what launches kernels. */
static inline int32_t open_device(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    find_driver();
    load_kernels();
    return 0;
}
static inline void *current_context(void) {
    void *context = NULL;
    CHECK_DRIVER(driver.CtxGetCurrent(&context));
    return context;
}

/* Everything goes through a stream, NULL for the device's own, and what is copied is there when the function returns: streams that do not
   block are not ordered after copies of any other one. */
static inline void copy_in(device_address to, const void *from, size_t size, void *stream) {
    CHECK_DRIVER(driver.MemcpyHtoDAsync(to, from, size, stream));
    CHECK_DRIVER(driver.StreamSynchronize(stream));
}
static inline void copy_out(void *to, device_address from, size_t size, void *stream) {
    CHECK_DRIVER(driver.MemcpyDtoHAsync(to, from, size, stream));
    CHECK_DRIVER(driver.StreamSynchronize(stream));
}
static inline device_address allocate(const void *from, size_t size, void *stream) {
    device_address address = 0;
    CHECK_DRIVER(driver.MemAlloc(&address, size));
    copy_in(address, from, size, stream);
    return address;
}
static inline void launch(void *kernel, unsigned blocks, unsigned threads, void *stream, void **parameters) {
    CHECK_DRIVER(driver.LaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, NULL));
}
/* The numbers of so many blocks at the state's counter; the state stays. */
static inline void launch_fill(device_address out, device_address state, uint32_t blocks, void *stream) {
    void *parameters[] = { &out, &state, &blocks };
    launch(kernels.fill, (blocks + 63) / 64, 64, stream, parameters);
}
static inline void launch_advance(device_address state, uint32_t blocks, void *stream) {
    void *parameters[] = { &state, &blocks };
    launch(kernels.advance, 1, 1, stream, parameters);
}
static inline void launch_count(device_address counter, uint32_t threads, void *stream) {
    void *parameters[] = { &counter };
    launch(kernels.count, 1, threads, stream, parameters);
}
static inline void launch_spin(uint64_t nanoseconds, void *stream) {
    void *parameters[] = { &nanoseconds };
    launch(kernels.spin, 1, 1, stream, parameters);
}
static inline uint32_t counted(device_address counter, void *stream) {
    uint32_t value = 0;
    copy_out(&value, counter, sizeof value, stream);
    return value;
}

/* What the host computes for so many blocks from a state, which moves on. */
static inline void check_blocks(const uint32_t *words, philox *state, uint32_t blocks) {
    for (uint32_t block = 0; block < blocks; block++) {
        uint32_t wanted[4];
        philox_block(state, wanted);
        for (int word = 0; word < 4; word++) CHECK_IS(words[4 * block + word], wanted[word]);
        philox_next(state);
    }
}
#endif
