// Guards against user code of a slot that runs unattached because the host refused: get is LAZY_E_HOST with the host's name
// and code, nothing was made, and another thread may succeed; a value whose thread ends while the host refuses is leaked, not
// destroyed; a refused retire changes nothing, and what free cannot destroy attached is leaked.
#include "big_lock.h"
#include "slots.h"

static big_lock lock;
static lazy_slot slot;

static int32_t make_attached(void *ctx, uint32_t index, void **value) {
    CHECK(*big_depth(&lock) > 0);
    return make(ctx, index, value);
}
static void destroy_attached(void *ctx, uint32_t index, void *value) {
    CHECK(*big_depth(&lock) > 0);
    destroy(ctx, index, value);
}
static void *is_refused(void *ctx) {
    big_refuses_me = 5;
    for (uint32_t i = 0; i < 2; i++) {
        check_get(&slot, i, LAZY_E_HOST);
        CHECK_IS(lazy_last_error()->code, 5);
        CHECK_HAS(lazy_last_error()->message, "\"picky\"");
        CHECK_HAS(lazy_last_error()->message, "wanted");
        CHECK(!lazy_slot_has(&slot, i));
    }
    CHECK_DEPTH(&lock, 0);
    big_refuses_me = 0;
    get_new(&slot, 0);
    return ctx;
}
static void *ends_refused(void *ctx) {
    get(&slot, 1);
    big_refuses_me = 5;
    return ctx;
}
static void refused(uint32_t scope) {
    lazy_slot_config config = { sizeof config, "wanted", NULL, make_attached, destroy_attached, NULL, &lock.host, scope,
                                LAZY_FORK_KEEP };
    slot = (lazy_slot)LAZY_SLOT_INIT(&config);
    SET(made, 0);
    SET(destroyed, 0);
    join(start(is_refused, NULL));
    CHECK_IS(COUNT(made), 1);
    CHECK_IS(COUNT(destroyed), scope == LAZY_SLOT_THREAD);
    join(start(ends_refused, NULL));
    CHECK_IS(COUNT(made), 2);
    CHECK_IS(COUNT(destroyed), scope == LAZY_SLOT_THREAD);
    if (scope == LAZY_SLOT_THREAD) {
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_IS(COUNT(destroyed), 1); /* leaked is leaked */
        return;
    }
    SET(lock.refuses, 6);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_E_HOST);
    CHECK_HAS(lazy_last_error()->message, "\"picky\"");
    CHECK_IS(COUNT(destroyed), 0);
    get_present(&slot, 0); /* nothing has changed */
    get_present(&slot, 1);
    SET(lock.refuses, 0);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_BALANCE();
    check_get(&slot, 0, LAZY_E_CLOSED);
    CHECK_DEPTH(&lock, 0);
}
static void refused_when_freed(void) {
    lazy_slot_config config = { sizeof config, "wanted", NULL, make_attached, destroy_attached, share, &lock.host,
                                LAZY_SLOT_THREAD, LAZY_FORK_KEEP };
    lazy_thread_state *state = NULL;
    slot = (lazy_slot)LAZY_SLOT_INIT(&config);
    item *mine = get_new(&slot, 0);
    SET(lock.refuses, 6);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_E_HOST);
    CHECK(state == NULL);
    CHECK_IS(COUNT(mine->references), 1);
    SET(lock.refuses, 0);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    SET(lock.refuses, 6);
    lazy_thread_state_free(state);
    CHECK_IS(COUNT(mine->references), 2);
    SET(lock.refuses, 0);
    CHECK(get_present(&slot, 0) == mine);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_IS(COUNT(mine->references), 1);
}

int main(void) {
    big_begin(&lock, 0, "picky");
    refused(LAZY_SLOT_THREAD);
    refused(LAZY_SLOT_PROCESS);
    refused_when_freed();
    return finish();
}
