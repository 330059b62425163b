// Guards against user code of a slot that runs without its host's lock, and against hooks where none is needed: create, share
// and destroy run attached, whoever calls and however deep it holds the lock, at the end of a thread, in retire and when a
// state is freed; afterwards the caller holds it as before. A look-up that finds a value, and has, call no hook.
#include "big_lock.h"
#include "slots.h"

static big_lock lock;
static lazy_slot slot;
static lazy_thread_state *state;

static int32_t make_attached(void *ctx, uint32_t index, void **value) {
    CHECK(*big_depth(&lock) > 0);
    big_yield(&lock); /* as imports do */
    return index == 9 ? lazy_fail(9, "no") : make(ctx, index, value);
}
static void destroy_attached(void *ctx, uint32_t index, void *value) {
    CHECK(*big_depth(&lock) > 0);
    big_yield(&lock);
    destroy(ctx, index, value);
}
static void *share_attached(void *ctx, void *value) {
    CHECK(*big_depth(&lock) > 0);
    return share(ctx, value);
}
static void *uses(void *depth) {
    for (intptr_t i = 0; i < (intptr_t)depth; i++) big_take(&lock);
    big_reset(&lock);
    CHECK(!lazy_slot_has(&slot, 1));
    CHECK_HOOKS(&lock, 0, 0);
    get(&slot, 1);
    CHECK_HOOKS(&lock, 1, 0);
    check_get(&slot, 9, LAZY_E_CALLBACK);
    CHECK_HOOKS(&lock, 2, 0);
    CHECK_DEPTH(&lock, (intptr_t)depth);
    for (int i = 0; i < 10; i++) get_present(&slot, 1);
    CHECK_HOOKS(&lock, 2, 0);
    set_new(&slot, 2);
    CHECK_DEPTH(&lock, (intptr_t)depth);
    while (*big_depth(&lock)) big_give(&lock);
    return NULL;
}

int main(void) {
    lazy_slot_config config = SHARED_ITEMS("attached");
    big_begin(&lock, 0, "lock");
    config.create = make_attached;
    config.destroy = destroy_attached;
    config.share = share_attached;
    config.host = &lock.host;
    for (intptr_t depth = 0; depth < 3; depth++) {
        slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        join(start(uses, (void *)depth));
        CHECK_BALANCE();
        uses((void *)depth);
        for (intptr_t i = 0; i < depth; i++) big_take(&lock);
        CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
        CHECK_IS(COUNT(copied), 2 * (depth + 1));
        CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
        get_present(&slot, 1);
        CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
        lazy_thread_state_free(state);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_DEPTH(&lock, depth);
        while (*big_depth(&lock)) big_give(&lock);
        CHECK_BALANCE();
    }
    return finish();
}
