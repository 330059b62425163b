// Guards against user code that runs under a lock of the library: while a factory, a share, a destructor at the end of a
// thread and one in a retire stand still, each on its thread, every function works on other slots, other indices and other
// threads' values of the same slot, and nobody waits who need not.
#include "callers.h"
#include "slots.h"

enum { STOPS = 4 };
static hold stops[STOPS] = { HOLD_INIT, HOLD_INIT, HOLD_INIT, HOLD_INIT };
static lazy_slot slots[STOPS], common;
static lazy_thread_state *captured;

static int32_t make_held(void *ctx, uint32_t index, void **value) {
    if (index == 0) held(&stops[0]);
    return make(ctx, index, value);
}
static void *share_held(void *ctx, void *value) {
    if (COUNT(((item *)value)->index) == 0) held(&stops[1]);
    return share(ctx, value);
}
static void destroy_at_end(void *ctx, uint32_t index, void *value) {
    if (index == 0) held(&stops[2]);
    destroy(ctx, index, value);
}
static void destroy_in_retire(void *ctx, uint32_t index, void *value) {
    if (index == 0) held(&stops[3]);
    destroy(ctx, index, value);
}
static lazy_status in_capture(void *ctx) {
    (void)ctx;
    get_new(&slots[1], 0);
    return lazy_thread_state_capture(&captured);
}
static lazy_status in_get_and_retire(void *ctx) {
    get_new(&slots[3], 0);
    return in_retire(ctx);
}
static void *uses_everything(void *ctx) {
    lazy_slot_config brief_config = SHARED_ITEMS("brief");
    lazy_thread_state *state = NULL;
    for (int i = 0; i < STOPS - 1; i++) {
        get_new(&slots[i], 1);
        set_new(&slots[i], 2);
        CHECK(!lazy_slot_has(&slots[i], 3));
    }
    check_get(&slots[3], 1, LAZY_E_CLOSED);
    get(&common, 1);
    CHECK_IS(lazy_slot_set(&common, 2, new_item(NULL, 2)), LAZY_OK);
    CHECK(!lazy_slot_has(&common, 0));
    lazy_slot brief = LAZY_SLOT_INIT(NULL);
    CHECK_IS(lazy_slot_configure(&brief, &brief_config), LAZY_OK);
    get_new(&brief, 0);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&brief), LAZY_OK);
    lazy_thread_state_free(state);
    CHECK(lazy_slot_named("a name") != NULL);
    return ctx;
}

int main(void) {
    lazy_slot_config configs[STOPS + 1] = { ITEMS("make", 0), SHARED_ITEMS("share"), ITEMS("end", 0), ITEMS("retire", 0),
                                            ITEMS("common", LAZY_SLOT_PROCESS) };
    caller callers[STOPS + 1];
    look_up looks[3] = { { &slots[0], 0, NULL }, { &slots[2], 0, NULL }, { &common, 0, NULL } };
    configs[0].create = configs[4].create = make_held;
    configs[1].share = share_held;
    configs[2].destroy = destroy_at_end;
    configs[3].destroy = destroy_in_retire;
    for (int i = 0; i < STOPS; i++) slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
    common = (lazy_slot)LAZY_SLOT_INIT(&configs[4]);
    begin(&callers[0], in_get, &looks[0]);
    begin(&callers[1], in_capture, NULL);
    begin(&callers[2], in_get, &looks[1]);
    begin(&callers[3], in_get_and_retire, &slots[3]);
    begin(&callers[4], in_get, &looks[2]);
    for (int i = 0; i < STOPS; i++) gate_wait(&stops[i].inside);
    while (atomic_load(&stops[0].runs) < 2) sched_yield(); /* the common one, too */
    join(start(uses_everything, NULL));
    uses_everything(NULL);
    for (int i = 0; i < STOPS; i++) gate_open(&stops[i].go);
    for (int i = 0; i <= STOPS; i++) CHECK_IS(ended(&callers[i]), LAZY_OK);
    lazy_thread_state_free(captured);
    for (int i = 0; i < STOPS; i++) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&common), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
