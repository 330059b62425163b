// Guards against a factory that is not allowed what a function may do, or that hides who the thread is: it starts a once,
// hands in calls, and makes values of other slots; inside an initializer, and on a worker that has its permit, it counts as
// the initializing thread, as do destructors in a retire there.
#include "callers.h"
#include "slots.h"

static lazy_once backend, driver;
static atomic_int initialized, ran;
static lazy_slot handles[2], streams[2];
static pthread_barrier_t together;

static int32_t make_stream(void *ctx, uint32_t index, void **value) {
    CHECK_IS(lazy_once_init(&driver), LAZY_OK);
    return make(ctx, index, value);
}
static int32_t make_handle(void *ctx, uint32_t index, void **value) {
    int which = ctx != NULL;
    lazy_status status = lazy_once_call(&backend, count, &ran);
    CHECK(status == LAZY_OK || status == LAZY_QUEUED);
    status = lazy_once_init(&backend);
    CHECK(status == LAZY_OK || (status == LAZY_IN_PROGRESS && lazy_once_is_initializing(&backend)));
    get(&streams[which], index);
    get(&streams[!which], index);
    return make(ctx, index, value);
}
static void destroy_handle(void *ctx, uint32_t index, void *value) {
    CHECK_IS(lazy_once_is_initializing(&backend), !lazy_once_is_initialized(&backend));
    CHECK(lazy_once_call(&backend, count, &ran) >= 0);
    destroy(ctx, index, value);
}
static int32_t start_driver(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_is_initializing(&driver));
    atomic_fetch_add(&initialized, 1);
    return 0;
}
static void *holds_a_permit(void *permit) {
    CHECK(!lazy_once_is_initializing(&backend));
    CHECK_IS(lazy_permit_enter((lazy_permit *)permit), LAZY_OK);
    get(&handles[1], 1); /* its own would be destroyed by a stranger, after it has given the permit back */
    CHECK(lazy_once_is_initializing(&backend));
    CHECK_IS(lazy_permit_leave((lazy_permit *)permit), LAZY_OK);
    return NULL;
}
static int32_t start_backend(void *ctx) {
    lazy_permit permit;
    (void)ctx;
    for (int i = 0; i < 2; i++) get(&handles[i], 0);
    CHECK_IS(lazy_permit_capture(&backend, &permit), LAZY_OK);
    join(start(holds_a_permit, &permit));
    lazy_slot_config brief = { .size = sizeof brief, .name = "brief", .create = make_handle, .destroy = destroy_handle };
    lazy_slot short_lived = LAZY_SLOT_INIT(&brief);
    get_new(&short_lived, 0);
    CHECK_IS(lazy_slot_retire(&short_lived), LAZY_OK);
    atomic_fetch_add(&initialized, 1);
    return 0;
}
static void *uses(void *ctx) {
    pthread_barrier_wait(&together);
    for (uint32_t i = 0; i < 4; i++) get(&handles[i % 2], i);
    return ctx;
}

int main(void) {
    lazy_config configs[2] = { { .size = sizeof(lazy_config), .name = "backend", .initialize = start_backend },
                               { .size = sizeof(lazy_config), .name = "driver", .initialize = start_driver } };
    lazy_slot_config handle[2] = { ITEMS("handles", LAZY_SLOT_THREAD), ITEMS("handles", LAZY_SLOT_PROCESS) },
                     stream[2] = { ITEMS("streams", LAZY_SLOT_THREAD), ITEMS("streams", LAZY_SLOT_PROCESS) };
    pthread_t threads[4];
    for (int i = 0; i < 2; i++) {
        handle[i].create = make_handle;
        handle[i].ctx = i ? &handles[i] : NULL;
        handle[i].destroy = destroy_handle;
        stream[i].create = make_stream;
    }
    pthread_barrier_init(&together, NULL, 4);
    for (int round = 0; round < 20; round++) {
        backend = (lazy_once)LAZY_ONCE_WITH(&configs[0]);
        driver = (lazy_once)LAZY_ONCE_WITH(&configs[1]);
        for (int i = 0; i < 2; i++) {
            handles[i] = (lazy_slot)LAZY_SLOT_INIT(&handle[i]);
            streams[i] = (lazy_slot)LAZY_SLOT_INIT(&stream[i]);
        }
        atomic_store(&initialized, 0);
        CHECK_IS(lazy_once_init(&backend), LAZY_OK);
        CHECK_IS(atomic_load(&initialized), 2);
        for (int i = 0; i < 4; i++) threads[i] = start(uses, NULL);
        for (int i = 0; i < 4; i++) join(threads[i]);
        for (int i = 0; i < 2; i++) CHECK_IS(lazy_slot_retire(&handles[i]), LAZY_OK);
        for (int i = 0; i < 2; i++) CHECK_IS(lazy_slot_retire(&streams[i]), LAZY_OK);
        CHECK_BALANCE();
    }
    return finish();
}
