// Guards against an initialization that breaks the stream capture of another thread, which a GLOBAL one is by every call that may allocate or
// wait: can_init says so, init is LAZY_E_NOT_NOW on each thread, what is called meanwhile queues, and the capture ends well. Afterwards it
// all runs. An initialized once serves a capture's neighbours, who may allocate if they relax their own mode.
#include "device.h"

enum { LANES = 32 };
static lazy_once once = LAZY_ONCE_INIT;
static void *stream, *context;
static device_address counter;
static int ran;

/* The application has started the driver without asking anybody; its threads have the context. */
static void start_driver(void) {
    uint32_t zero = 0;
    int device = 0;
    find_driver();
    CHECK_DRIVER(driver.Init(0));
    CHECK_DRIVER(driver.DeviceGet(&device, 0));
    CHECK_DRIVER(driver.DevicePrimaryCtxRetain(&context, device));
    CHECK_DRIVER(driver.CtxSetCurrent(context));
    load_kernels();
    CHECK_DRIVER(driver.StreamCreate(&stream, STREAM_NON_BLOCKING));
    counter = allocate(&zero, sizeof zero, stream);
    launch_count(counter, LANES, stream); /* so that nothing of the kernel is left to load in a capture */
    CHECK_IS(counted(counter, stream), LANES);
}
static int32_t can_init(void *ctx) {
    unsigned status = 0;
    (void)ctx;
    CHECK_DRIVER(driver.StreamIsCapturing(stream, &status));
    return status ? lazy_fail(DRIVER_CAPTURE_UNSUPPORTED, "a stream is being captured") : 0;
}
static void set_up(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.can_init = can_init;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
}
static lazy_info info_now(void) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    return info;
}
static int32_t allocates_and_counts(void *ctx) {
    uint32_t zero = 0;
    (void)ctx;
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    CHECK_DRIVER(driver.MemFree(allocate(&zero, sizeof zero, NULL)));
    launch_count(counter, LANES, stream);
    ran++;
    return 0;
}
static int32_t looks(void *ctx) {
    (void)ctx;
    ran++;
    return 0;
}

static void check_not_now(void) {
    CHECK_IS(lazy_once_init(&once), LAZY_E_NOT_NOW);
    CHECK_IS(lazy_last_error()->code, DRIVER_CAPTURE_UNSUPPORTED);
    CHECK_HAS(lazy_last_error()->message, "a stream is being captured");
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(info_now().phase, LAZY_FRESH);
    CHECK_IS(info_now().attempts, 0);
}
static void *is_told_not_now(void *ctx) {
    CHECK_DRIVER(driver.CtxSetCurrent(context));
    check_not_now();
    CHECK_IS(lazy_once_call(&once, allocates_and_counts, NULL), LAZY_QUEUED);
    check_not_now();
    CHECK_IS(info_now().queued, 1);
    CHECK_IS(ran, 0);
    return ctx;
}
static void *initializes(void *ctx) {
    CHECK_DRIVER(driver.CtxSetCurrent(context));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK_IS(info_now().attempts, 1);
    return ctx;
}
static void *uses_what_is_ready(void *address) {
    unsigned mode = CAPTURE_RELAXED;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, looks, NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    CHECK_DRIVER(driver.ThreadExchangeStreamCaptureMode(&mode));
    CHECK_DRIVER(driver.MemAlloc((device_address *)address, 4096));
    CHECK_DRIVER(driver.ThreadExchangeStreamCaptureMode(&mode));
    CHECK_IS(mode, CAPTURE_RELAXED);
    return NULL;
}
/* What nobody may do, without an expectation: it is known only where it has run. */
static void *allocates(void *ctx) {
    device_address address = 0;
    char said[256];
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    printf("seen: cuMemAlloc beside a GLOBAL capture: %s\n", driver_text(driver.MemAlloc(&address, 4096), said, sizeof said));
    return ctx;
}

/* This thread captures one kernel while the other one does its part. */
static int capture_beside(void *(*neighbour)(void *), void *ctx, void **executable) {
    void *graph = NULL;
    *executable = NULL;
    CHECK_DRIVER(driver.StreamBeginCapture(stream, CAPTURE_GLOBAL));
    launch_count(counter, LANES, stream);
    if (!lazy_once_is_initialized(&once)) check_not_now();
    join(start(neighbour, ctx));
    int result = driver.StreamEndCapture(stream, &graph);
    if (result) return result;
    CHECK_DRIVER(driver.GraphInstantiate(executable, graph, 0));
    CHECK_DRIVER(driver.GraphDestroy(graph));
    return 0;
}
static void check_adds_one_each_replay(void *executable) {
    uint32_t before = counted(counter, stream);
    for (uint32_t replay = 1; replay <= 3; replay++) {
        CHECK_DRIVER(driver.GraphLaunch(executable, stream));
        CHECK_IS(counted(counter, stream), before + replay * LANES);
    }
    CHECK_DRIVER(driver.GraphExecDestroy(executable));
}

int main(void) {
    void *executable;
    device_address relaxed = 0;
    char said[256];
    need_device();
    start_driver();
    set_up();
    CHECK_DRIVER(capture_beside(is_told_not_now, NULL, &executable));
    CHECK_IS(counted(counter, stream), LANES);
    check_adds_one_each_replay(executable);
    join(start(initializes, NULL));
    CHECK_IS(counted(counter, stream), 5 * LANES);

    CHECK_DRIVER(capture_beside(uses_what_is_ready, &relaxed, &executable));
    CHECK_IS(ran, 2);
    check_adds_one_each_replay(executable);
    CHECK_DRIVER(driver.MemFree(relaxed));

    int result = capture_beside(allocates, NULL, &executable);
    printf("seen: the capture beside it ends with: %s\n", driver_text(result, said, sizeof said));
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
