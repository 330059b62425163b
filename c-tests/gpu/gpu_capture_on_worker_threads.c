// Guards against the fault of CUDA graph trees: what a capture needs exists on the importing thread only, and a thread that was started by hand
// meets an assertion. Here each of eight such threads finds an empty slot, makes its own stream and memory, and captures beside the others, with
// callbacks that run at once in the middle of it; 48 replays of each graph give the host's numbers. What a thread made goes with it, or with
// the slot.
#include "device.h"
#include <stdatomic.h>

enum { WORKERS = 8, REPLAYS = 48, BLOCKS = 128 };
typedef struct container { void *stream, *executable; device_address state, out; } container;

static pthread_barrier_t workers, everybody;
static gate retired = GATE_INIT;
static atomic_int made, destroyed;
static const uint32_t nothing[4 * BLOCKS];
static uint32_t numbers[WORKERS][4 * BLOCKS];

static int32_t make(void *ctx, uint32_t device, void **value) {
    container *c = (container *)calloc(1, sizeof *c);
    (void)ctx;
    CHECK(c != NULL);
    CHECK_IS(lazy_cuda_bind_thread((int32_t)device), LAZY_OK);
    CHECK_DRIVER(driver.StreamCreate(&c->stream, STREAM_NON_BLOCKING));
    c->state = allocate(nothing, sizeof(philox), c->stream);
    c->out = allocate(nothing, sizeof nothing, c->stream);
    atomic_fetch_add(&made, 1);
    *value = c;
    return 0;
}
/* A thread that ends may have lost its context before its values. */
static void destroy(void *ctx, uint32_t device, void *value) {
    container *c = (container *)value;
    (void)ctx;
    CHECK_IS(lazy_cuda_bind_thread((int32_t)device), LAZY_OK);
    CHECK_DRIVER(driver.GraphExecDestroy(c->executable));
    CHECK_DRIVER(driver.MemFree(c->out));
    CHECK_DRIVER(driver.MemFree(c->state));
    CHECK_DRIVER(driver.StreamDestroy(c->stream));
    atomic_fetch_add(&destroyed, 1);
    free(c);
}
static const lazy_slot_config config = { sizeof(lazy_slot_config), "containers", NULL, make, destroy, NULL, NULL, LAZY_SLOT_THREAD,
                                         LAZY_FORK_KEEP };
static lazy_slot containers = LAZY_SLOT_INIT(&config);

static container *own(void) {
    void *value = NULL;
    CHECK_IS(lazy_slot_get(&containers, 0, &value), LAZY_OK);
    return (container *)value;
}
static int32_t draw(void *ctx) {
    container *c = own();
    (void)ctx;
    launch_fill(c->out, c->state, BLOCKS, c->stream);
    launch_advance(c->state, BLOCKS, c->stream);
    return 0;
}
static void check_drawn(container *c, philox *state, uint32_t *words) {
    copy_out(words, c->out, sizeof nothing, c->stream);
    check_blocks(words, state, BLOCKS);
}
static void capture(container *c) {
    void *graph = NULL;
    size_t nodes = 0;
    unsigned status = 0;
    CHECK_DRIVER(driver.StreamBeginCapture(c->stream, CAPTURE_THREAD_LOCAL));
    pthread_barrier_wait(&workers); /* all are capturing */
    CHECK(is_initialized());
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(lazy_call(draw, NULL), LAZY_OK);
    CHECK_DRIVER(driver.StreamIsCapturing(c->stream, &status));
    CHECK_IS(status, CAPTURE_ACTIVE);
    CHECK_DRIVER(driver.StreamEndCapture(c->stream, &graph));
    pthread_barrier_wait(&workers);
    CHECK_DRIVER(driver.GraphGetNodes(graph, NULL, &nodes));
    CHECK_IS(nodes, 2);
    CHECK_DRIVER(driver.GraphInstantiate(&c->executable, graph, 0));
    CHECK_DRIVER(driver.GraphDestroy(graph));
}
static void *works(void *words) {
    ptrdiff_t number = (uint32_t(*)[4 * BLOCKS])words - numbers;
    philox state, seeded, found;
    CHECK(!lazy_slot_has(&containers, 0));
    container *c = own();
    CHECK(lazy_slot_has(&containers, 0));
    philox_seed(&seeded, 1000 + (uint64_t)number);
    copy_in(c->state, &seeded, sizeof seeded, c->stream);
    state = seeded;
    CHECK_IS(lazy_call(draw, NULL), LAZY_OK); /* now, so that nothing of a kernel is left to load in the capture */
    check_drawn(c, &state, (uint32_t *)words);
    copy_in(c->state, &seeded, sizeof seeded, c->stream);
    pthread_barrier_wait(&workers);
    capture(c);
    copy_out(&found, c->state, sizeof found, c->stream);
    CHECK(!memcmp(&found, &seeded, sizeof found)); /* nothing has run */
    state = seeded;
    for (int replay = 0; replay < REPLAYS; replay++) {
        CHECK_DRIVER(driver.GraphLaunch(c->executable, c->stream));
        check_drawn(c, &state, (uint32_t *)words);
    }
    pthread_barrier_wait(&everybody);
    if (number % 2) gate_wait(&retired);
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    need_device();
    CHECK_IS(lazy_cuda_setup(lazy_default(), NULL), LAZY_OK);
    CHECK_IS(lazy_call(open_device, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_init(), LAZY_OK);
    pthread_barrier_init(&workers, NULL, WORKERS);
    pthread_barrier_init(&everybody, NULL, WORKERS + 1);
    for (int i = 0; i < WORKERS; i++) threads[i] = start(works, numbers[i]);
    pthread_barrier_wait(&everybody);
    for (int i = 0; i < WORKERS; i += 2) join(threads[i]);
    CHECK_IS(atomic_load(&made), WORKERS);
    CHECK_IS(atomic_load(&destroyed), WORKERS / 2);
    CHECK_IS(lazy_slot_retire(&containers), LAZY_OK);
    CHECK_IS(atomic_load(&destroyed), WORKERS);
    gate_open(&retired);
    for (int i = 1; i < WORKERS; i += 2) join(threads[i]);
    return finish();
}
