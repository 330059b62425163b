// Guards against one mark or one lock for all gates: with three backends in a process, the drain of one that calls into
// the others must not make those look ready or initializing, run what they should queue, or hold up other threads.
#include "check.h"
#include <stdatomic.h>

static atomic_int started[3];
static int32_t initialize(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
    return 0;
}
#define BACKEND(name, n) { sizeof(lazy_config), name, initialize, &started[n], 0, 0, 0, 0, 0, 0, 0, 0 }
static const lazy_config configs[3] = { BACKEND("cuda", 0), BACKEND("xpu", 1), BACKEND("mtia", 2) };
static lazy_once cuda = LAZY_ONCE_WITH(&configs[0]), xpu = LAZY_ONCE_WITH(&configs[1]), mtia = LAZY_ONCE_WITH(&configs[2]);
static int ran_on_cuda, ran_on_xpu, ran_on_mtia;

static int32_t count(void *counter) {
    ++*(int *)counter;
    return 0;
}
static int32_t in_drain_of_xpu(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_is_initializing(&xpu));
    CHECK(lazy_once_is_initializing(&cuda)); /* this thread owns both, one inside the other */
    CHECK(!lazy_once_is_initializing(&mtia));
    CHECK_IS(lazy_once_init(&cuda), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_init(&xpu), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_call(&cuda, count, &ran_on_cuda), LAZY_OK);
    CHECK_IS(ran_on_cuda, 1);
    CHECK_IS(lazy_once_call(&xpu, count, &ran_on_xpu), LAZY_OK);
    CHECK_IS(lazy_once_call(&mtia, count, &ran_on_mtia), LAZY_QUEUED);
    CHECK(!lazy_once_is_initialized(&cuda) && !lazy_once_is_initialized(&xpu) && !lazy_once_is_initialized(&mtia));
    return 0;
}
static void *elsewhere(void *ctx) {
    (void)ctx;
    int ran = 0;
    CHECK(!lazy_once_is_initializing(&cuda) && !lazy_once_is_initializing(&xpu));
    CHECK(lazy_once_is_initialized(&xpu));
    CHECK_IS(lazy_once_call(&xpu, count, &ran), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK_IS(lazy_once_init(&mtia), LAZY_OK); /* does not wait for cuda, which is still in its drain */
    CHECK(!lazy_once_is_initialized(&cuda));
    return NULL;
}
static int32_t in_drain_of_cuda(void *ctx) {
    (void)ctx;
    CHECK(lazy_once_is_initializing(&cuda));
    CHECK(!lazy_once_is_initializing(&xpu) && !lazy_once_is_initializing(&mtia));
    CHECK_IS(lazy_once_call(&xpu, in_drain_of_xpu, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&xpu), LAZY_OK);
    CHECK(lazy_once_is_initialized(&xpu));
    CHECK(!lazy_once_is_initializing(&xpu));
    CHECK(lazy_once_is_initializing(&cuda)); /* the end of the inner attempt did not take the outer mark away */
    CHECK(!lazy_once_is_initialized(&cuda));
    CHECK_IS(ran_on_mtia, 0);
    join(start(elsewhere, NULL));
    CHECK_IS(lazy_once_call(&mtia, count, &ran_on_mtia), LAZY_OK);
    CHECK_IS(ran_on_mtia, 2);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_call(&cuda, in_drain_of_cuda, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&cuda), LAZY_OK);
    CHECK(lazy_once_is_initialized(&cuda) && lazy_once_is_initialized(&xpu) && lazy_once_is_initialized(&mtia));
    CHECK(!lazy_once_is_initializing(&cuda) && !lazy_once_is_initializing(&xpu) && !lazy_once_is_initializing(&mtia));
    for (int i = 0; i < 3; ++i) CHECK_IS(atomic_load(&started[i]), 1);
    CHECK_IS(ran_on_cuda, 1);
    CHECK_IS(ran_on_xpu, 1);
    return finish();
}
