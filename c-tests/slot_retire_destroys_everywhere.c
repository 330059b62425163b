// Guards against a value that retire leaves behind, or that is destroyed again when its thread ends: it destroys those of
// every thread, made and set, on the thread that calls it, and is final: get and set are LAZY_E_CLOSED with the slot's name,
// has is false, on old threads and new ones. A second retire destroys nothing.
#include "slots.h"

enum { THREADS = 8, INDICES = 3 };
static lazy_slot slot;
static pthread_barrier_t made_all, retired;

static void check_closed(void) {
    for (uint32_t i = 0; i < INDICES + 2; i++) {
        CHECK(!lazy_slot_has(&slot, i));
        check_get(&slot, i, LAZY_E_CLOSED);
        CHECK_HAS(lazy_last_error()->message, "retired");
        CHECK_IS(lazy_slot_set(&slot, i, &slot), LAZY_E_CLOSED);
    }
}
static void *makes(void *ctx) {
    for (uint32_t i = 0; i < INDICES; i++) get(&slot, i);
    if (ctx) set_new(&slot, INDICES + (uint32_t)(intptr_t)ctx);
    pthread_barrier_wait(&made_all);
    pthread_barrier_wait(&retired);
    check_closed();
    return NULL;
}
static void *comes_late(void *ctx) {
    check_closed();
    return ctx;
}
static void retire(uint32_t scope) {
    lazy_slot_config config = ITEMS("done with", scope);
    pthread_t threads[THREADS];
    int before = COUNT(made);
    slot = (lazy_slot)LAZY_SLOT_INIT(&config);
    pthread_barrier_init(&made_all, NULL, THREADS + 1);
    pthread_barrier_init(&retired, NULL, THREADS + 1);
    for (intptr_t i = 0; i < THREADS; i++) threads[i] = start(makes, (void *)i);
    pthread_barrier_wait(&made_all);
    get(&slot, 0);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_BALANCE();
    for (int i = before; i < COUNT(made); i++) CHECK_IS(items[i].destroyer, thread_id());
    check_closed();
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_IS(lazy_slot_configure(&slot, &config), LAZY_E_CLOSED);
    pthread_barrier_wait(&retired);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    join(start(comes_late, NULL));
    CHECK_IS(COUNT(made) - before, scope ? INDICES + THREADS - 1 : INDICES * THREADS + THREADS);
    CHECK_BALANCE();
    pthread_barrier_destroy(&made_all);
    pthread_barrier_destroy(&retired);
}

int main(void) {
    lazy_slot_config config = ITEMS("done with", LAZY_SLOT_THREAD);
    retire(LAZY_SLOT_THREAD);
    retire(LAZY_SLOT_PROCESS);
    slot = (lazy_slot)LAZY_SLOT_INIT(&config); /* nobody ever had a value */
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    check_closed();
    CHECK_BALANCE();
    return finish();
}
