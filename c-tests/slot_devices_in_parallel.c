// Guards against indices of the process scope that wait for each other, and against an index that is made twice: eight
// factories are inside at once, each for its index; then sixteen threads want one index, of which one makes it while the
// others sleep, and other indices and other slots do not wait for it.
#include "callers.h"
#include "slots.h"

enum { ALL = 8, THREADS = 16 };
static pthread_barrier_t inside;
static hold one = HOLD_INIT;

static int32_t make_together(void *ctx, uint32_t index, void **value) {
    pthread_barrier_wait(&inside);
    return make(ctx, index, value);
}
static int32_t make_held(void *ctx, uint32_t index, void **value) {
    if (index == 0) held(&one);
    return make(ctx, index, value);
}
static const lazy_slot_config parallel = { sizeof(lazy_slot_config), "parallel", NULL, make_together, destroy, NULL, NULL,
                                           LAZY_SLOT_PROCESS, LAZY_FORK_KEEP };
static const lazy_slot_config contended = { sizeof(lazy_slot_config), "contended", NULL, make_held, destroy, NULL, NULL,
                                            LAZY_SLOT_PROCESS, LAZY_FORK_KEEP };
static lazy_slot eight = LAZY_SLOT_INIT(&parallel), single = LAZY_SLOT_INIT(&contended);

int main(void) {
    caller callers[THREADS];
    look_up look_ups[THREADS] = { { 0 } };
    pthread_barrier_init(&inside, NULL, ALL);
    for (uint32_t i = 0; i < ALL; i++) {
        look_ups[i] = (look_up){ &eight, i * 1000, NULL };
        begin(&callers[i], in_get, &look_ups[i]);
    }
    for (int i = 0; i < ALL; i++) CHECK_IS(ended(&callers[i]), LAZY_OK);
    for (uint32_t i = 0; i < ALL; i++) CHECK(get_present(&eight, i * 1000) == look_ups[i].value);
    CHECK_IS(COUNT(made), ALL);

    for (int i = 0; i < THREADS; i++) {
        look_ups[i] = (look_up){ &single, 0, NULL };
        begin(&callers[i], in_get, &look_ups[i]);
        if (i == 0) gate_wait(&one.inside);
    }
    for (int i = 1; i < THREADS; i++) until_waiting(&callers[i]);
    CHECK(!lazy_slot_has(&single, 0));
    get_new(&single, 1);
    gate_open(&one.go);
    for (int i = 0; i < THREADS; i++) CHECK_IS(ended(&callers[i]), LAZY_OK);
    for (int i = 0; i < THREADS; i++) CHECK(look_ups[i].value == get_present(&single, 0));
    CHECK_IS(atomic_load(&one.runs), 1);
    CHECK_IS(COUNT(made), ALL + 2);
    CHECK_IS(COUNT(destroyed), 0); /* the threads that made them have ended */
    CHECK_IS(lazy_slot_retire(&eight), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&single), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
