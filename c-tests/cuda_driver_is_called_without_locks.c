// library: libcuda.so.1 gpu/fake_libcuda.c
// flags: -rdynamic
// Guards against a lock of the library that is held while the driver is called, or its constructors are: a driver that waits there for
// another thread, which uses onces and slots, forks and dumps, would hang with it.
#include "fake_driver.h"
#include "forked_child.h"

static lazy_once once = LAZY_ONCE_INIT;
static atomic_int visits;

static void in_a_child(void) {}
static void *use_everything(void *ctx) {
    char name[32];
    lazy_once mine = LAZY_ONCE_INIT;
    lazy_slot *slot;
    (void)ctx;
    snprintf(name, sizeof name, "visit %d", atomic_fetch_add(&visits, 1));
    CHECK(lazy_once_named(name) != NULL);
    slot = lazy_slot_named(name);
    CHECK_IS(lazy_slot_set(slot, 0, slot), LAZY_OK);
    CHECK_IS(lazy_slot_retire(slot), LAZY_OK);
    CHECK_IS(lazy_cuda_setup(&mine, NULL), LAZY_OK);
    CHECK_IS(lazy_once_close(&mine), LAZY_OK);
    lazy_once_info(&once, &(lazy_info)LAZY_INFO_INIT);
    CHECK_IS(lazy_dump(2), LAZY_OK);
    in_child(in_a_child);
    return NULL;
}
static void visit(void) {
    join(start(use_everything, NULL));
}

int main(void) {
    on_load = visit;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) entries[i].inside = visit;
    CHECK_IS(lazy_cuda_setup(&once, NULL), LAZY_OK);
    CHECK_IS(queried().device_count, -1);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_cuda_bind_thread(1), LAZY_OK);
    CHECK_IS(atomic_load(&visits), 1 + (int)(sizeof entries / sizeof *entries));
    return finish();
}
