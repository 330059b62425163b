// Guards against a process that cannot end, or crashes on the way: exit() is called while a kernel runs, by the main thread, from inside its drain,
// or beside the drain of another thread, which never ends. A handler and a static destructor ask and use the gate; contexts are left to the driver.
#include "device_counter.h"
#include <atomic>
#include <new>

enum how { WHEN_READY, IN_DRAIN, BESIDE_DRAIN, HOWS };
enum { LANES = 32, KERNEL_NS = 300000000 };

/* What a child has come to, for its parent. */
struct seen { std::atomic<int> handlers{0}, destructors{0}; };
static seen *shared;
static bool armed;
static int ran;
static how ends;
static gate inside = GATE_INIT, never = GATE_INIT;

static int32_t tick(void *) { return ran++, 0; }
static void use_gate() {
    const int before = ran;
    CHECK_IS(is_initialized(), ends == WHEN_READY);
    if (ends == BESIDE_DRAIN) {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = tick;
        request.flags = LAZY_REQUEST_NO_WAIT;
        CHECK_IS(lazy_once_init_timeout(lazy_default(), 0), LAZY_E_TIMEOUT);
        CHECK_IS(lazy_once_submit(lazy_default(), &request, nullptr), LAZY_QUEUED);
        return;
    }
    CHECK_IS(lazy_init(), ends == IN_DRAIN ? LAZY_IN_PROGRESS : LAZY_OK);
    CHECK_IS(lazy_call(tick, nullptr), LAZY_OK);
    CHECK_IS(ran, before + 1);
}
/* Constructed before the driver is loaded, so destroyed when it may be gone: nothing here calls it. */
static struct at_the_end {
    ~at_the_end() {
        if (!armed) return;
        use_gate();
        ++shared->destructors;
    }
} last;

/* Registered after the driver is initialized, so called before it goes; if a driver sees that otherwise, it says 4. */
static void handler() {
    use_gate();
    if (lazy_cuda_bind_thread(0) != LAZY_OK) CHECK_DRIVER_IS(lazy_last_error()->code, DRIVER_DEINITIALIZED);
    void *parameters[] = {&counter};
    const int result = driver.LaunchKernel(kernels.count, 1, 1, 1, LANES, 1, 1, 0, nullptr, parameters, nullptr);
    if (result) CHECK_DRIVER_IS(result, DRIVER_DEINITIALIZED);
    ++shared->handlers;
}
static void begin_work() {
    open_counter(nullptr);
    launch_count(counter, LANES, nullptr);
    CHECK_IS(counted(counter, nullptr), LANES);
    launch_spin(KERNEL_NS, nullptr);
    CHECK_DRIVER_IS(driver.StreamQuery(nullptr), DRIVER_NOT_READY);
    CHECK_IS(atexit(handler), 0);
}
static int32_t in_drain(void *) {
    begin_work();
    if (ends == IN_DRAIN) exit(0);
    gate_open(&inside);
    gate_wait(&never);
    return 0;
}
static void *initializes(void *) { return lazy_init(), nullptr; }
static void process() {
    armed = true;
    if (ends == WHEN_READY) {
        CHECK_IS(lazy_init(), LAZY_OK);
        begin_work();
        exit(0);
    }
    CHECK_IS(lazy_call(in_drain, nullptr), LAZY_QUEUED);
    if (ends == IN_DRAIN) lazy_init(); /* which does not return */
    start(initializes, nullptr);
    gate_wait(&inside);
    exit(0);
}

int main() {
    need_device();
    void *place = mmap(nullptr, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(place != MAP_FAILED);
    shared = new (place) seen;
    CHECK_IS(lazy_cuda_setup(lazy_default(), nullptr), LAZY_OK);
    for (int child = 0; child < HOWS; child++) {
        ends = static_cast<how>(child);
        in_child(process);
        CHECK_IS(shared->handlers, child + 1);
        CHECK_IS(shared->destructors, child + 1);
    }
    return finish();
}
