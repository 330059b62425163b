// Guards against a process that cannot go on without a device: where CUDA_VISIBLE_DEVICES hides them all, init is LAZY_E_UNAVAILABLE each time it
// is tried, nothing of the queue runs or is lost, and a fallback that is configured after a reset runs it. A child that sees them uses them.
#include "device.h"

static lazy_once once = LAZY_ONCE_INIT;
static char order[8];

static int32_t note(void *letter) {
    order[strlen(order)] = *(const char *)letter;
    return 0;
}
static int32_t without_device(void *ctx) {
    (void)ctx;
    return 0;
}
static void check_order(const char *wanted) {
    if (strcmp(order, wanted)) check_fail(__FILE__, __LINE__, "the order", order, wanted);
}
static uint64_t queued(void) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    return info.queued;
}
static void check_unavailable(void) {
    CHECK_IS(lazy_once_init(&once), LAZY_E_UNAVAILABLE);
    int code = lazy_last_error()->code;
    CHECK(code == DRIVER_NO_DEVICE || code == 0); /* by cuInit, or by the count */
    CHECK_HAS(lazy_last_error()->message, "no device");
    puts(lazy_last_error()->message);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
    CHECK_IS(queued(), 2);
    check_order("");
}
static void is_hidden(void) {
    lazy_config fallback = LAZY_CONFIG_INIT;
    check_unavailable();
    check_unavailable();
    fallback.initialize = without_device;
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(lazy_once_configure(&once, &fallback), LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    check_order("ab");
    fflush(stdout);
}
static void is_seen(void) {
    uint32_t zero = 0;
    CHECK_IS(lazy_once_call(&once, open_device, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    check_order("ab");
    device_address counter = allocate(&zero, sizeof zero, NULL);
    launch_count(counter, 7, NULL);
    CHECK_IS(counted(counter, NULL), 7);
}

int main(void) {
    need_device();
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, note, (void *)"a"), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, note, (void *)"b"), LAZY_QUEUED);
    in_child(is_seen);
    CHECK_IS(setenv("CUDA_VISIBLE_DEVICES", "-1", 1), 0);
    in_child(is_hidden);
    CHECK_IS(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);
    is_hidden();
    return finish();
}
