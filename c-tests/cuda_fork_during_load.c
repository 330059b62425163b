// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a child that hangs, or uses half a library, because another thread was loading the driver or inside cuInit when it was forked:
// the once says at once that it does not survive that, and what was only half loaded stays out of use past a reset, too.
#include "fake_driver.h"
#include "forked_child.h"

static lazy_once once = LAZY_ONCE_INIT;
static gate loading = GATE_INIT, loaded = GATE_INIT, starting = GATE_INIT, started = GATE_INIT;

static void constructor(void) {
    gate_open(&loading);
    gate_wait(&loaded);
}
static void in_cuinit(void) {
    gate_open(&starting);
    gate_wait(&started);
}
static void refused(void) {
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_FORKED, 0, "cuda");
    CHECK_IS(lazy_once_call(&once, never, NULL), LAZY_E_FORKED);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
}
static void refused_for_good(void) {
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    refused();
    CHECK_REFUSED(lazy_cuda_query(&info), LAZY_E_FORKED, 0, "half there");
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_REFUSED(lazy_once_init(&once), LAZY_E_FORKED, 0, "half there");
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW);
}

int main(void) {
    static caller first;
    on_load = constructor;
    entry_of("cuInit")->inside = in_cuinit;
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    begin(&first, in_init, &once);
    gate_wait(&loading);
    in_child(refused_for_good);
    gate_open(&loaded);
    gate_wait(&starting);
    in_child(refused);
    gate_open(&started);
    CHECK_IS(ended(&first), LAZY_OK);
    in_child(refused);
    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    return finish();
}
