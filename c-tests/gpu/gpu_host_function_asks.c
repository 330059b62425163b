// Guards against a host function that waits: the driver runs it in the middle of a stream, and the drain that it asks about waits for that
// stream. It is told that nothing is initialized yet, its NO_WAIT request joins the drain and runs before anybody sees the once ready, and its
// try does not wait; on a ready once its request runs at once.
#include "device.h"
#include <stdatomic.h>

enum { LANES = 32 };
static void *stream;
static device_address counter;
static atomic_int ran, calls;

typedef struct answers { int initialized, initializing; lazy_status tried, submitted; uint32_t outcome; lazy_fn fn; } answers;

/* What may be asked on a thread of the driver's, which may call nothing of the driver's. */
static void asks(void *ctx) {
    answers *a = (answers *)ctx;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = a->fn;
    request.flags = LAZY_REQUEST_NO_WAIT;
    a->initialized = is_initialized();
    a->initializing = lazy_once_is_initializing(lazy_default());
    a->tried = lazy_once_init_timeout(lazy_default(), 0);
    a->submitted = lazy_once_submit(lazy_default(), &request, &receipt);
    a->outcome = receipt.outcome;
    atomic_fetch_add(&calls, 1);
}
static void check_asked(answers *a, int number) {
    CHECK_DRIVER(driver.LaunchHostFunc(stream, asks, a));
    CHECK_DRIVER(driver.StreamSynchronize(stream));
    CHECK_IS(atomic_load(&calls), number);
}
/* Runs later, on the thread that initializes, where the driver may be called. */
static int32_t counts_on_the_device(void *ctx) {
    (void)ctx;
    CHECK(!is_initialized());
    CHECK(lazy_once_is_initializing(lazy_default()));
    launch_count(counter, LANES, stream);
    atomic_fetch_add(&ran, 1);
    return 0;
}
static int32_t counts(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&ran, 1);
    return 0;
}
static int32_t waits_for_its_stream(void *ctx) {
    uint32_t zero = 0;
    answers a = { -1, -1, LAZY_OK, LAZY_OK, 0, counts_on_the_device };
    open_device(ctx);
    CHECK_DRIVER(driver.StreamCreate(&stream, STREAM_NON_BLOCKING));
    counter = allocate(&zero, sizeof zero, stream);
    launch_count(counter, LANES, stream);
    check_asked(&a, 1);
    CHECK_IS(a.initialized, 0);
    CHECK_IS(a.initializing, 0);
    CHECK_IS(a.tried, LAZY_E_TIMEOUT);
    CHECK_IS(a.submitted, LAZY_QUEUED);
    CHECK_IS(a.outcome, LAZY_OUTCOME_QUEUED);
    CHECK_IS(atomic_load(&ran), 0);
    return 0;
}

int main(void) {
    answers a = { -1, -1, LAZY_E_INIT, LAZY_E_INIT, 0, counts };
    need_device();
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_call(waits_for_its_stream, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(counted(counter, stream), 2 * LANES);
    check_asked(&a, 2);
    CHECK_IS(a.initialized, 1);
    CHECK_IS(a.initializing, 0);
    CHECK_IS(a.tried, LAZY_OK);
    CHECK_IS(a.submitted, LAZY_OK);
    CHECK_IS(a.outcome, LAZY_RAN_READY);
    CHECK_IS(atomic_load(&ran), 2);
    return finish();
}
