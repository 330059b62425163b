// Guards against a process that cannot end, or that destroys what other threads still use: exit() while threads hold values,
// one is inside a factory, one waits for it and one is inside a destructor; exit() from a factory; and from a destructor.
// Handlers may use slots still.
#include "callers.h"
#include "forked_child.h"
#include "slots.h"

static lazy_slot slot, common;
static hold factory = HOLD_INIT, destructor = HOLD_INIT;
static gate holding = GATE_INIT, never_opens = GATE_INIT;
static bool exits;

static int32_t make_held(void *ctx, uint32_t index, void **value) {
    if (exits) exit(0);
    held(&factory);
    return make(ctx, index, value);
}
static void destroy_held(void *ctx, uint32_t index, void *value) {
    if (exits) exit(0);
    held(&destructor);
    destroy(ctx, index, value);
}
static void *holds(void *ctx) {
    get_new(&slot, 1);
    gate_open(&holding);
    gate_wait(&never_opens);
    return ctx;
}
static void in_handler(void) {
    get(&slot, 7);
    CHECK(!lazy_slot_has(&common, 0));
    CHECK_IS(COUNT(destroyed), 0);
}
static void begin_child(bool in_user_code) {
    static lazy_slot_config config = ITEMS("held", LAZY_SLOT_THREAD), common_config = ITEMS("common", LAZY_SLOT_PROCESS);
    config.destroy = destroy_held;
    common_config.create = make_held;
    slot = (lazy_slot)LAZY_SLOT_INIT(&config);
    common = (lazy_slot)LAZY_SLOT_INIT(&common_config);
    exits = in_user_code;
}
static void exits_beside_threads(void) {
    caller makes, waits, ends;
    look_up first = { &common, 0, NULL }, second = first, third = { &slot, 2, NULL };
    begin_child(false);
    get_new(&slot, 0);
    atexit(in_handler);
    start(holds, NULL);
    gate_wait(&holding);
    begin(&makes, in_get, &first);
    gate_wait(&factory.inside);
    begin(&waits, in_get, &second);
    until_waiting(&waits);
    begin(&ends, in_get, &third);
    gate_wait(&destructor.inside);
    exit(0);
}
static void exits_in_a_factory(void) {
    begin_child(true);
    get(&slot, 0);
    get(&common, 0);
    _exit(1);
}
static void exits_in_a_destructor(void) {
    caller ends;
    look_up first = { &slot, 0, NULL };
    begin_child(true);
    begin(&ends, in_get, &first);
    ended(&ends);
    _exit(1);
}

int main(void) {
    in_child(exits_beside_threads);
    in_child(exits_in_a_factory);
    in_child(exits_in_a_destructor);
    return finish();
}
