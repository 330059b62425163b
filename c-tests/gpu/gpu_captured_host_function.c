// Guards against a graph that cannot call back: a host function captured between two kernels hands in a request at each of 48 replays. To a ready
// once they run at once, on the driver's thread; to one that another thread is draining, which waits for the replays, they queue and run behind
// it, in order, before anybody sees it ready.
#include "device.h"
#include <stdatomic.h>

enum { REPLAYS = 48, LANES = 32 };
static lazy_once late = LAZY_ONCE_INIT;
static lazy_once *asked;
static void *stream, *executable;
static device_address counter;
static atomic_int calls, answers[2]; /* LAZY_OK, LAZY_QUEUED */
static int numbers[2 * REPLAYS], order[2 * REPLAYS];
static atomic_int ran;

static int32_t notes(void *number) {
    order[atomic_fetch_add(&ran, 1)] = *(int *)number;
    return 0;
}
static void hands_in(void *ctx) {
    lazy_request request = LAZY_REQUEST_INIT;
    int call = atomic_fetch_add(&calls, 1);
    (void)ctx;
    request.fn = notes;
    request.ctx = &numbers[call];
    request.flags = LAZY_REQUEST_NO_WAIT;
    lazy_status status = lazy_once_submit(asked, &request, NULL);
    if (status == LAZY_OK || status == LAZY_QUEUED) atomic_fetch_add(&answers[status == LAZY_QUEUED], 1);
}
static void capture(void) {
    void *graph = NULL;
    size_t nodes = 0;
    CHECK_DRIVER(driver.StreamBeginCapture(stream, CAPTURE_THREAD_LOCAL));
    launch_count(counter, LANES, stream);
    CHECK_DRIVER(driver.LaunchHostFunc(stream, hands_in, NULL));
    launch_count(counter, LANES, stream);
    CHECK_DRIVER(driver.StreamEndCapture(stream, &graph));
    CHECK_DRIVER(driver.GraphGetNodes(graph, NULL, &nodes));
    CHECK_IS(nodes, 3);
    CHECK_DRIVER(driver.GraphInstantiate(&executable, graph, 0));
    CHECK_DRIVER(driver.GraphDestroy(graph));
    CHECK_IS(atomic_load(&calls), 0);
}
static void replay(lazy_once *once) {
    uint32_t before = counted(counter, stream);
    asked = once;
    for (int i = 0; i < REPLAYS; i++) CHECK_DRIVER(driver.GraphLaunch(executable, stream));
    CHECK_IS(counted(counter, stream), before + 2 * LANES * REPLAYS);
}
static int32_t waits_for_replays(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    replay(&late);
    CHECK_IS(atomic_load(&ran), REPLAYS);
    return 0;
}
static void *drains(void *ctx) {
    CHECK_IS(lazy_once_init(&late), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 2 * REPLAYS);
    return ctx;
}

int main(void) {
    uint32_t zero = 0;
    need_device();
    for (int i = 0; i < 2 * REPLAYS; i++) numbers[i] = i;
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_call(open_device, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_DRIVER(driver.StreamCreate(&stream, STREAM_NON_BLOCKING));
    counter = allocate(&zero, sizeof zero, stream);
    launch_count(counter, LANES, stream); /* so that nothing of the kernel is left to load in the capture */
    CHECK_IS(counted(counter, stream), LANES);
    capture();

    replay(lazy_default());
    CHECK_IS(atomic_load(&answers[0]), REPLAYS);
    CHECK_IS(atomic_load(&ran), REPLAYS);
    CHECK_IS(lazy_once_call(&late, waits_for_replays, NULL), LAZY_QUEUED);
    join(start(drains, NULL));
    CHECK_IS(atomic_load(&answers[0]), REPLAYS);
    CHECK_IS(atomic_load(&answers[1]), REPLAYS);
    for (int i = 0; i < 2 * REPLAYS; i++) CHECK_IS(order[i], i);
    CHECK_DRIVER(driver.GraphExecDestroy(executable));
    CHECK_IS(lazy_once_close(&late), LAZY_OK);
    return finish();
}
