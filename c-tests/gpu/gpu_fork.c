// Guards against a child that uses a driver which did not survive the fork, or is refused one that it may use: forked from an untouched
// process, or one that has only asked for the driver's version, it initializes and counts on the device; forked after that, it is told who
// initialized, by the once and, past a reset, by the driver; and the parent goes on as if nothing had been.
#include "device_counter.h"

enum { LANES = 96 };
static pid_t parent;

static int32_t add(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    launch_count(counter, LANES, NULL);
    return 0;
}
/* What the parent has queued runs in whoever initializes. */
static void initialize_and_count(void) {
    CHECK(!is_initialized());
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(lazy_call(add, NULL), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    CHECK_IS(counted(counter, NULL), 2 * LANES);
}
static void check_forked(lazy_status status) {
    char number[16];
    snprintf(number, sizeof number, "%d", (int)parent);
    CHECK_IS(status, LAZY_E_FORKED);
    CHECK_IS(lazy_last_error()->status, LAZY_E_FORKED);
    CHECK_HAS(lazy_last_error()->message, number);
}
static void is_refused(void) {
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    CHECK(!is_initialized());
    check_forked(lazy_init());
    check_forked(lazy_call(add, NULL));
    puts(lazy_last_error()->message);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
    if (lazy_cuda_query(&info) == LAZY_OK) CHECK_IS(info.device_count, -1);
    else CHECK_IS(lazy_last_error()->status, LAZY_E_FORKED); /* as the driver takes it */
    fflush(stdout);
}
static void is_refused_by_the_driver(void) {
    CHECK_IS(lazy_once_reset(lazy_default()), LAZY_OK);
    CHECK_IS(lazy_init(), LAZY_E_FORKED);
    CHECK_IS(lazy_last_error()->code, 3);
    puts(lazy_last_error()->message);
    fflush(stdout);
}

int main(void) {
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    parent = getpid();
    need_device();
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_call(open_counter, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_call(add, NULL), LAZY_QUEUED);
    in_child(initialize_and_count);
    CHECK_IS(lazy_cuda_query(&info), LAZY_OK);
    in_child(initialize_and_count);
    CHECK_IS(info.device_count, -1);

    initialize_and_count();
    in_child(is_refused);
    in_child(is_refused_by_the_driver);
    CHECK(is_initialized());
    CHECK_IS(lazy_call(add, NULL), LAZY_OK);
    CHECK_IS(counted(counter, NULL), 3 * LANES);
    return finish();
}
