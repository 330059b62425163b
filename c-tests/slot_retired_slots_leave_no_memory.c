// not-under: asan tsan valgrind: the tool has an allocator of its own, and its own memory counts
// Guards against slots and threads that leave their values' tables behind: twenty thousand slots are used, captured, retired
// and forgotten, each for a few dozen bytes, and a thousand threads come and go beside a slot that stays, for nothing.
#include "memory_use.h"
#include "slots.h"

static int32_t make_plain(void *ctx, uint32_t index, void **value) {
    (void)index;
    *value = ctx;
    return 0;
}
static void *share_plain(void *ctx, void *value) {
    return value == ctx ? value : NULL;
}
enum { TIMES = 20000 };
static int context;
static const lazy_slot_config configs[2] = {
    { sizeof(lazy_slot_config), "short", &context, make_plain, NULL, share_plain, NULL, LAZY_SLOT_THREAD, LAZY_FORK_KEEP },
    { sizeof(lazy_slot_config), "short", &context, make_plain, NULL, share_plain, NULL, LAZY_SLOT_PROCESS, LAZY_FORK_KEEP },
};
static lazy_slot lasting = LAZY_SLOT_INIT(&configs[0]);

static void use_one(int time) {
    lazy_slot slot = LAZY_SLOT_INIT(&configs[time % 2]);
    lazy_thread_state *state = NULL;
    void *value = NULL;
    CHECK_IS(lazy_slot_get(&slot, (uint32_t)time, &value), LAZY_OK);
    if (time % 8 == 0) CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    lazy_thread_state_free(state);
}
static void *uses(void *ctx) {
    void *value = NULL;
    CHECK_IS(lazy_slot_get(&lasting, 0, &value), LAZY_OK);
    CHECK_IS(lazy_slot_get(&lasting, 70000, &value), LAZY_OK);
    return ctx;
}

int main(void) {
    uses(NULL);
    join(start(uses, NULL));
    for (int time = 0; time < 1000; time++) use_one(time);
    size_t before = allocated(), resident = memory_of("VmRSS:");
    for (int time = 0; time < TIMES; time++) use_one(time);
    for (int time = 0; time < 1000; time++) join(start(uses, NULL));
    CHECK(allocated() < before + 64 * TIMES); /* a few dozen bytes of each are kept */
    CHECK(memory_of("VmRSS:") < resident + 64 * TIMES + 1024 * 1024);
    return finish();
}
