// not-under: asan tsan: the allocator of the tool is not made usable again in a child of a process with threads
// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a child that inherits a lock: forked again and again while threads look up, make, set, capture, enter, end
// and retire, it does all of that itself.
#include "forked_child.h"
#include "slots.h"

enum { WORKERS = 3, SLOTS = 4 };
static lazy_slot_config configs[SLOTS] = { SHARED_ITEMS("own"), SHARED_ITEMS("reset"), ITEMS("common", LAZY_SLOT_PROCESS),
                                           ITEMS("common, reset", LAZY_SLOT_PROCESS) };
static lazy_slot slots[SLOTS];
static int stopped;

static int32_t make_small(void *ctx, uint32_t index, void **value) {
    (void)index;
    *value = ctx;
    return 0;
}
static void destroy_small(void *ctx, uint32_t index, void *value) {
    (void)index;
    CHECK(value == ctx);
}
static void *share_small(void *ctx, void *value) {
    CHECK(value == ctx);
    return value;
}
static void use(uint32_t from) {
    lazy_slot brief = LAZY_SLOT_INIT(&configs[from % SLOTS]);
    lazy_thread_state *state = NULL;
    void *value = NULL;
    for (uint32_t i = 0; i < SLOTS; i++) {
        CHECK_IS(lazy_slot_get(&slots[i], from % 50, &value), LAZY_OK);
        CHECK(value == configs[i].ctx);
        CHECK_IS(lazy_slot_get(&slots[i], from, &value), LAZY_OK);
    }
    if (from % 16 == 0) CHECK_IS(lazy_slot_set(&brief, 3, configs[from % SLOTS].ctx), LAZY_OK);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    CHECK(lazy_slot_has(&slots[0], from));
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    lazy_thread_state_free(state);
    CHECK_IS(lazy_slot_retire(&brief), LAZY_OK);
}
static void *uses_once(void *from) {
    use((uint32_t)(uintptr_t)from);
    return NULL;
}
static void *works(void *ctx) {
    for (uintptr_t i = (uintptr_t)ctx; !COUNT(stopped); i++) join(start(uses_once, (void *)(i % 500)));
    return NULL;
}
static void child(void) {
    for (uint32_t i = 0; i < 3; i++) use(i * 1000);
    for (int i = 0; i < SLOTS; i++) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
}

int main(void) {
    pthread_t threads[WORKERS];
    for (int i = 0; i < SLOTS; i++) {
        configs[i].ctx = &configs[i];
        configs[i].create = make_small;
        configs[i].destroy = destroy_small;
        if (i < 2) configs[i].share = share_small;
        configs[i].on_fork = i % 2 ? LAZY_FORK_RESET : LAZY_FORK_KEEP;
        slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
    }
    for (uintptr_t i = 0; i < WORKERS; i++) threads[i] = start(works, (void *)(i * 100));
    for (long i = rounds(300); i > 0; i--) in_child(child);
    SET(stopped, 1);
    for (int i = 0; i < WORKERS; i++) join(threads[i]);
    for (int i = 0; i < SLOTS; i++) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
    return finish();
}
