// flags: -fexceptions
// Guards against values that are lost, or destroyed twice, because a thread ended in a destructor or in share, by pthread_exit
// or cancelled: in retire, which another thread finishes, in capture, in free, in the last leave and in a set that replaces.
#include "slots.h"
#include "thread_ends.h"

enum { RETIRES, RETIRES_COMMON, CAPTURES, FREES, LEAVES_LAST, REPLACES, CALLS };
static lazy_slot slot, others[2];
static ending end;
static int ends, call;
static lazy_thread_state *state;

static void may_end(void) {
    if (ADD(ends, -1) == 1) end_here(&end);
}
/* Apart from the frames in which a thread ends: they have nothing on the stack, where a sanitizer would not clean up. */
__attribute__((noinline)) static void use_all(void) {
    for (uint32_t i = 0; i < 3; i++) get(&slot, i);
    for (int i = 0; i < 2; i++) get(&others[i], 0);
}
__attribute__((noinline)) static void enter(void) {
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
}
__attribute__((noinline)) static void destroy_apart(void *ctx, uint32_t index, void *value) {
    destroy(ctx, index, value);
}
static void destroy_and_end(void *ctx, uint32_t index, void *value) {
    destroy_apart(ctx, index, value);
    if (call != CAPTURES) may_end();
}
static void *share_or_end(void *ctx, void *value) {
    if (call == CAPTURES) may_end();
    return share(ctx, value);
}
static void *ends_inside(void *ctx) {
    if (call == CAPTURES || call == REPLACES) {
        SET(ends, -1000);
        use_all();
        SET(ends, 1);
    }
    if (call == RETIRES || call == RETIRES_COMMON) lazy_slot_retire(&slot);
    if (call == CAPTURES) lazy_thread_state_capture(&state);
    if (call == LEAVES_LAST) enter();
    if (call == FREES || call == LEAVES_LAST) lazy_thread_state_free(state);
    if (call == LEAVES_LAST) lazy_thread_state_leave(state);
    if (call == REPLACES) lazy_slot_set(&slot, 0, new_item(NULL, 0));
    CHECK(!"the thread came back");
    return ctx;
}

int main(void) {
    for (int i = 0; i < WAYS * CALLS; i++) {
        lazy_slot_config config = SHARED_ITEMS("left"), other = SHARED_ITEMS("other");
        call = i % CALLS;
        config.destroy = destroy_and_end;
        config.share = share_or_end;
        config.scope = call == RETIRES_COMMON ? LAZY_SLOT_PROCESS : LAZY_SLOT_THREAD;
        slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        for (int o = 0; o < 2; o++) others[o] = (lazy_slot)LAZY_SLOT_INIT(&other);
        SET(ends, -1000);
        use_all();
        if (call == FREES || call == LEAVES_LAST) CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
        end = ENDING((way)(i / CALLS));
        SET(ends, 1);
        end_thread(&end, start(ends_inside, NULL));
        SET(ends, -1000);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        for (int o = 0; o < 2; o++) CHECK_IS(lazy_slot_retire(&others[o]), LAZY_OK);
        CHECK_BALANCE();
    }
    return finish();
}
