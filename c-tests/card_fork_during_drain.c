// Guards against a child that loses the callback which another thread was running at the fork, or starts the native part
// a second time: under KEEP that callback is still first in the child's queue, and the native success is remembered.
#include "forked_child.h"
#include <stdatomic.h>

static gate started = GATE_INIT, proceed = GATE_INIT;
static atomic_int initialized, before, running, after, is_child;

static int32_t count(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
    return 0;
}
static int32_t blocks(void *ctx) {
    count(ctx);
    if (atomic_load(&is_child)) return 0;
    gate_open(&started);
    gate_wait(&proceed);
    return 0;
}
static const lazy_config config = { sizeof(lazy_config), "forked", count, &initialized, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

static void child(void) {
    atomic_store(&is_child, 1);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&before), 1);
    CHECK_IS(atomic_load(&running), 2);
    CHECK_IS(atomic_load(&after), 1);
}
static void *initializing(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return NULL;
}

int main(void) {
    CHECK_IS(lazy_once_call(&once, count, &before), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, blocks, &running), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, count, &after), LAZY_QUEUED);
    pthread_t a = start(initializing, NULL);
    gate_wait(&started);
    in_child(child);
    gate_open(&proceed);
    join(a);
    CHECK_IS(atomic_load(&running), 1);
    CHECK_IS(atomic_load(&after), 1);
    return finish();
}
