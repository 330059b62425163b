// Guards against advice that does not help: a child forked from a process that uses the driver is told to be started with exec. It does that
// here, beside a kernel of the parent's, on the thread that initialized and on another; the new process initializes and counts on the device.
#include "device_counter.h"

enum { LANES = 64, SPIN_NS = 200000000 };
static const char mark[] = "LAZYONCE_STARTED_WITH_EXEC";

static void initialize_and_count(void) {
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_call(open_counter, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    launch_count(counter, LANES, NULL);
    CHECK_IS(counted(counter, NULL), LANES);
}
static void is_told_and_does(void) {
    CHECK_IS(lazy_init(), LAZY_E_FORKED);
    CHECK_HAS(lazy_last_error()->message, "exec");
    CHECK_IS(setenv(mark, "1", 1), 0);
    execl("/proc/self/exe", "started_with_exec", is_host_backend ? "--backend=host" : "--backend=cuda", (char *)NULL);
    check_fail(__FILE__, __LINE__, "execl", strerror(errno), "a new process");
}
static void *forks(void *ctx) {
    in_child(is_told_and_does);
    return ctx;
}

int main(void) {
    if (getenv(mark)) {
        initialize_and_count();
        return 0;
    }
    need_device();
    initialize_and_count();
    launch_spin(SPIN_NS, NULL);
    forks(NULL);
    join(start(forks, NULL));
    launch_count(counter, LANES, NULL);
    CHECK_IS(counted(counter, NULL), 2 * LANES);
    return finish();
}
