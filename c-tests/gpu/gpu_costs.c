// Says what the driver's initialization, a bind and the ready path cost here, beside one launch; the figures depend on the machine and are not
// judged. Guards only against calls that fail when they are made often.
#include "device.h"
#include <time.h>

enum { MANY = 100000, LANES = 32 };
static device_address counter;
static int calls;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static void say(const char *what, double began, long times) {
    printf("%12.1f ns  %s\n", (now() - began) / (double)times, what);
}
__attribute__((__noinline__)) static int32_t tick(void *ctx) {
    ++*(int *)ctx;
    return 0;
}
static int32_t (*volatile direct)(void *) = tick;

static void *binds(void *ctx) {
    double began = now();
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    say("lazy_cuda_bind_thread, another thread's first", began, 1);
    return ctx;
}
static void first_steps(void) {
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    uint32_t zero = 0;
    double began = now();
    CHECK_IS(lazy_cuda_query(&info), LAZY_OK);
    say("lazy_cuda_query, which loads the driver", began, 1);
    began = now();
    CHECK_IS(lazy_init(), LAZY_OK);
    say("lazy_init, which is cuInit and the count", began, 1);
    began = now();
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    say("lazy_cuda_bind_thread, which makes the primary context", began, 1);
    join(start(binds, NULL));
    began = now();
    find_driver();
    load_kernels();
    say("compiling and loading the kernels", began, 1);
    counter = allocate(&zero, sizeof zero, NULL);
    began = now();
    launch_count(counter, LANES, NULL);
    CHECK_IS(counted(counter, NULL), LANES);
    say("the first launch, with its result", began, 1);
}
static void often(void) {
    const long times = rounds(MANY), launches = rounds(1000);
    double began = now();
    for (long i = 0; i < times; i++) CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    say("lazy_cuda_bind_thread, again", began, times);
    began = now();
    for (long i = 0; i < times; i++) CHECK(is_initialized());
    say("is_initialized", began, times);
    began = now();
    for (long i = 0; i < times; i++) CHECK_IS(lazy_init(), LAZY_OK);
    say("lazy_init, ready", began, times);
    began = now();
    for (long i = 0; i < times; i++) CHECK_IS(direct(&calls), 0);
    say("a callback, called through a pointer", began, times);
    began = now();
    for (long i = 0; i < times; i++) CHECK_IS(lazy_call(tick, &calls), LAZY_OK);
    say("the same through lazy_call, ready", began, times);
    began = now();
    for (long i = 0; i < times; i++) CHECK_IS(lazy_once_call(lazy_default(), tick, &calls), LAZY_OK);
    say("the same through lazy_once_call, inline", began, times);
    CHECK_IS(calls, 3 * times);
    began = now();
    for (long i = 0; i < launches; i++) launch_count(counter, LANES, NULL);
    CHECK_IS(counted(counter, NULL), (launches + 1) * LANES);
    say("a launch, of a thousand", began, launches);
}

int main(void) {
    need_device();
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    first_steps();
    often();
    return finish();
}
