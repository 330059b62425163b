// Guards against a launch that is lost, made twice, or made before the device is up: eight threads race lazy_init and lazy_call, and each
// callback launches a kernel that adds to a counter on the device. The device's count, the host's and the answers agree.
#include "device_counter.h"
#include <stdatomic.h>

enum { THREADS = 8, LANES = 32 };
static atomic_int ran, done, queued;
static pthread_barrier_t begin;

static int32_t add(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    launch_count(counter, LANES, NULL);
    atomic_fetch_add(&ran, 1);
    return 0;
}
static void *races(void *number) {
    long calls = rounds(200), first = *(int *)number;
    pthread_barrier_wait(&begin);
    for (long i = 0; i < calls; i++) {
        if (i == first) CHECK_IS(lazy_init(), LAZY_OK);
        lazy_status status = lazy_call(add, NULL);
        CHECK(status == LAZY_OK || status == LAZY_QUEUED);
        CHECK(i < first || status == LAZY_OK); /* this thread has seen it initialized */
        atomic_fetch_add(status == LAZY_OK ? &done : &queued, 1);
    }
    return NULL;
}

int main(void) {
    static int firsts[THREADS] = { 0, 0, 1, 2, 3, 10, 50, 100 };
    pthread_t threads[THREADS];
    need_device();
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_call(open_counter, NULL), LAZY_QUEUED);
    pthread_barrier_init(&begin, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) threads[i] = start(races, &firsts[i]);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    CHECK(is_initialized());
    CHECK_IS(atomic_load(&done) + atomic_load(&queued), THREADS * rounds(200));
    CHECK_IS(atomic_load(&ran), THREADS * rounds(200));
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    CHECK_IS(counted(counter, NULL), LANES * atomic_load(&ran));
    printf("%d launches, %d of them queued\n", atomic_load(&ran), atomic_load(&queued));
    return finish();
}
