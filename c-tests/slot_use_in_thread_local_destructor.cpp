// Guards against the same in C++: destructors of thread_local objects, constructed before the thread's first look-up and
// after, look up, make and enter; on threads all of it is destroyed, at the end of the program nothing crashes.
#include "slots.h"

static const lazy_slot_config configs[2] = { SHARED_ITEMS("late"), ITEMS("unused before", LAZY_SLOT_THREAD) };
static lazy_slot slot = LAZY_SLOT_INIT(&configs[0]), unused = LAZY_SLOT_INIT(&configs[1]);
static lazy_thread_state *state;
static item *captured;
static int destructors;

struct user {
    uint32_t number = 0;
    ~user() {
        if (number == 0) return;
        ADD(destructors, 1);
        get(&slot, number);
        get(&unused, number);
        CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
        CHECK(get_present(&slot, 0) == captured);
        if (number % 2) CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    }
};
static thread_local user early, late;

static void *thread(void *uses) {
    early.number = 1;
    if (uses) get(&slot, 0);
    late.number = 2;
    return nullptr;
}

int main() {
    captured = get_new(&slot, 0);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    for (int i = 0; i < 4; i++) {
        int before = COUNT(made) - COUNT(destroyed);
        join(start(thread, i % 2 ? state : nullptr));
        CHECK_IS(COUNT(destructors), 2 * (i + 1));
        CHECK_IS(COUNT(made) - COUNT(destroyed), before);
    }
    CHECK_IS(COUNT(captured->references), 2);
    thread(state); /* for the end of the program */
    return finish();
}
