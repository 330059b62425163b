// Guards against an initialization that makes a context, or a bind that makes several: after lazy_init no thread has one and the primary
// context does not exist; each of eight threads that binds has the one primary context, and can use what another has allocated.
#include "device.h"

enum { THREADS = 8, LANES = 64 };
static pthread_barrier_t all;
static device_address counter;
static void *contexts[THREADS];

static int is_active(int ordinal) {
    int device = 0, active = 0;
    unsigned flags = 0;
    CHECK_DRIVER(driver.DeviceGet(&device, ordinal));
    CHECK_DRIVER(driver.DevicePrimaryCtxGetState(device, &flags, &active));
    return active;
}
static void *binds(void *context) {
    int device = -1, first = 0;
    CHECK(current_context() == NULL);
    pthread_barrier_wait(&all);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    *(void **)context = current_context();
    CHECK(*(void **)context != NULL);
    CHECK_DRIVER(driver.CtxGetDevice(&device));
    CHECK_DRIVER(driver.DeviceGet(&first, 0));
    CHECK_IS(device, first);
    if (pthread_barrier_wait(&all) == PTHREAD_BARRIER_SERIAL_THREAD) {
        uint32_t zero = 0;
        load_kernels();
        counter = allocate(&zero, sizeof zero, NULL);
    }
    pthread_barrier_wait(&all);
    launch_count(counter, LANES, NULL);
    pthread_barrier_wait(&all);
    CHECK_IS(counted(counter, NULL), THREADS * LANES);
    return NULL;
}
static void check_bad_ordinal(int32_t ordinal) {
    void *before = current_context();
    CHECK_IS(lazy_cuda_bind_thread(ordinal), LAZY_E_INVALID);
    CHECK(current_context() == before);
}
static void *binds_every_device(void *ctx) {
    void *before = NULL;
    int count = 0;
    CHECK_DRIVER(driver.DeviceGetCount(&count));
    check_bad_ordinal(count);
    for (int ordinal = count - 1; ordinal >= 0; ordinal--) {
        CHECK_IS(lazy_cuda_bind_thread(ordinal), LAZY_OK);
        CHECK(current_context() != before);
        CHECK_IS(is_active(ordinal), 1);
        before = current_context();
    }
    check_bad_ordinal(-1);
    check_bad_ordinal(count);
    return ctx;
}

int main(void) {
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    pthread_t threads[THREADS];
    void *retained = NULL;
    int device = 0;
    need_device();
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
    CHECK_IS(lazy_cuda_query(&info), LAZY_OK);
    CHECK_IS(info.device_count, -1);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(lazy_cuda_query(&info), LAZY_OK);
    CHECK(info.device_count > 0);
    printf("%s, %d\n", info.library, info.driver_version);
    find_driver();
    CHECK(current_context() == NULL);
    CHECK_IS(is_active(0), 0);

    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) threads[i] = start(binds, &contexts[i]);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    for (int i = 0; i < THREADS; i++) CHECK(contexts[i] == contexts[0]);
    CHECK(current_context() == NULL);
    CHECK_IS(is_active(0), 1);
    CHECK_DRIVER(driver.DeviceGet(&device, 0));
    CHECK_DRIVER(driver.DevicePrimaryCtxRetain(&retained, device));
    CHECK(retained == contexts[0]);
    join(start(binds_every_device, NULL));
    return finish();
}
