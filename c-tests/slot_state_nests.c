// Guards against look-ups that find the wrong layer: the innermost entered state that has the slot, then the thread's own,
// then the factory, with has following the same way and calling none. What is set inside a state goes to the layer that get
// finds it in, seen by all who enter it; what no entered state has stays the thread's after leaving.
#include "slots.h"

static const lazy_slot_config configs[4] = { SHARED_ITEMS("both"), SHARED_ITEMS("outer"), SHARED_ITEMS("neither"),
                                             ITEMS("private", LAZY_SLOT_THREAD) };
static lazy_slot both = LAZY_SLOT_INIT(&configs[0]), outer = LAZY_SLOT_INIT(&configs[1]),
                 neither = LAZY_SLOT_INIT(&configs[2]), private = LAZY_SLOT_INIT(&configs[3]);
static lazy_thread_state *states[2];
static item *captured[2], *outers, *replaced;

static void *captures(void *number) {
    int n = (int)(intptr_t)number;
    captured[n] = get_new(&both, 0);
    get_new(&private, 0);
    if (n == 0) outers = get_new(&outer, 0);
    CHECK_IS(lazy_thread_state_capture(&states[n]), LAZY_OK);
    return NULL;
}
static void enter(int n) { CHECK_IS(lazy_thread_state_enter(states[n]), LAZY_OK); }
static void leave(int n) { CHECK_IS(lazy_thread_state_leave(states[n]), LAZY_OK); }
static item *set(lazy_slot *slot, uint32_t index) {
    set_new(slot, index);
    return get_present(slot, index);
}
static void *with_values_of_its_own(void *ctx) {
    (void)ctx;
    item *mine = get_new(&both, 0), *mine_too = get_new(&private, 0);
    enter(0);
    CHECK(get_present(&both, 0) == captured[0]);
    CHECK(get_present(&outer, 0) == outers);
    CHECK(get_present(&private, 0) == mine_too);
    CHECK(!lazy_slot_has(&neither, 0));
    enter(1);
    CHECK(get_present(&both, 0) == captured[1]);
    CHECK(get_present(&outer, 0) == outers);
    enter(0);
    CHECK(get_present(&both, 0) == captured[0]);
    leave(0);
    CHECK(get_present(&both, 0) == captured[1]);
    leave(1);
    CHECK(get_present(&both, 0) == captured[0]);
    leave(0);
    CHECK(get_present(&both, 0) == mine);
    CHECK(!lazy_slot_has(&outer, 0));
    return NULL;
}
static void *sets_inside(void *ctx) {
    (void)ctx;
    enter(0);
    enter(1);
    item *unshared = set(&neither, 0), *of_mine = set(&private, 0), *made_inside = get_new(&neither, 1);
    replaced = set(&outer, 0); /* the inner state lacks it, the outer has it */
    leave(1);
    CHECK(get_present(&outer, 0) == replaced);
    leave(0);
    CHECK(get_present(&neither, 0) == unshared);
    CHECK(get_present(&neither, 1) == made_inside);
    CHECK(get_present(&private, 0) == of_mine);
    CHECK(!lazy_slot_has(&outer, 0));
    CHECK(get_new(&outer, 0) != replaced);
    return NULL;
}
static void *comes_later(void *ctx) {
    (void)ctx;
    enter(0);
    CHECK(get_present(&outer, 0) == replaced);
    CHECK(get_present(&both, 0) == captured[0]);
    leave(0);
    return NULL;
}

int main(void) {
    for (intptr_t i = 0; i < 2; i++) join(start(captures, (void *)i));
    CHECK_IS(COUNT(copied), 3);
    join(start(with_values_of_its_own, NULL));
    join(start(sets_inside, NULL));
    join(start(comes_later, NULL));
    CHECK(!lazy_slot_has(&both, 0));
    for (int i = 0; i < 2; i++) lazy_thread_state_free(states[i]);
    CHECK_BALANCE();
    return finish();
}
