// Guards against an errno that a call changed: hits, misses, failures, set, has, capture, enter, leave, free, retire and names
// leave it as it was; only what a factory set itself stays.
#include "slots.h"

static int32_t sets_errno(void *ctx, uint32_t index, void **value) {
    errno = EILSEQ;
    return index == 1 ? 7 : make(ctx, index, value);
}
static const lazy_slot_config configs[3] = {
    SHARED_ITEMS("plain"), ITEMS("common", LAZY_SLOT_PROCESS),
    { sizeof(lazy_slot_config), "noisy", NULL, sets_errno, destroy, NULL, NULL, LAZY_SLOT_THREAD, LAZY_FORK_KEEP },
};
static lazy_slot slots[3] = { LAZY_SLOT_INIT(&configs[0]), LAZY_SLOT_INIT(&configs[1]), LAZY_SLOT_INIT(&configs[2]) };
static lazy_thread_state *state;

#define KEEPS(wanted, call) KEEPS_AS(ENOTDIR, wanted, call)
#define KEEPS_AS(number, wanted, call) do { \
        errno = ENOTDIR; \
        long long got_ = (call); \
        int errno_ = errno; \
        CHECK_IS(got_, (wanted)); \
        CHECK_IS(errno_, (number)); \
    } while (0)

static void *calls(void *ctx) {
    void *value;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t index = 0; index < 200; index += 97) {
            KEEPS(false, lazy_slot_has(&slots[i], index + 500 * (ctx != NULL)));
            KEEPS(LAZY_OK, lazy_slot_get(&slots[i], index + 500 * (ctx != NULL), &value));
            KEEPS(LAZY_OK, lazy_slot_get(&slots[i], index + 500 * (ctx != NULL), &value));
            KEEPS(true, lazy_slot_has(&slots[i], index + 500 * (ctx != NULL)));
        }
    KEEPS_AS(EILSEQ, LAZY_OK, lazy_slot_get(&slots[2], 0, &value)); /* the caller ran it, and may want to see it */
    KEEPS_AS(EILSEQ, LAZY_E_CALLBACK, lazy_slot_get(&slots[2], 1, &value));
    KEEPS(LAZY_OK, lazy_slot_set(&slots[2], 4, new_item(NULL, 4)));
    KEEPS(LAZY_E_INVALID, lazy_slot_get(NULL, 0, &value));
    KEEPS(LAZY_E_INVALID, lazy_slot_set(NULL, 0, NULL));
    KEEPS(LAZY_OK, lazy_thread_state_capture(&state));
    KEEPS(LAZY_OK, lazy_thread_state_enter(state));
    KEEPS(LAZY_OK, lazy_thread_state_leave(state));
    KEEPS(true, lazy_thread_state_leave(state) < 0);
    KEEPS(0, (lazy_thread_state_free(state), 0));
    return ctx;
}

int main(void) {
    lazy_slot_config config = ITEMS("configured", LAZY_SLOT_THREAD);
    lazy_slot slot = LAZY_SLOT_INIT(NULL);
    void *value;
    KEEPS(LAZY_E_NOT_FOUND, lazy_slot_get(&slot, 0, &value));
    KEEPS(LAZY_OK, lazy_slot_configure(&slot, &config));
    get_new(&slot, 0);
    config.name = "otherwise";
    KEEPS(LAZY_E_TOO_LATE, lazy_slot_configure(&slot, &config));
    KEEPS(true, lazy_slot_named("by name") != NULL);
    calls(NULL);
    join(start(calls, &config));
    for (int i = 0; i < 3; i++) KEEPS(LAZY_OK, lazy_slot_retire(&slots[i]));
    KEEPS(LAZY_OK, lazy_slot_retire(&slot));
    KEEPS(LAZY_E_CLOSED, lazy_slot_get(&slot, 0, &value));
    CHECK_BALANCE();
    return finish();
}
