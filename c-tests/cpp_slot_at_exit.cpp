// Guards against a process that cannot end, or whose threads lose what they use: exit() destroys slots at namespace scope, in functions
// and in objects, beside a thread that has values, one inside a factory, one that waits for it, and values of threads that are gone.
// Nothing is destroyed or waited for, and the threads go on using them; also in a child of a fork.
#include "cpp_slots.hpp"
#include "forked_child.h"

static gate inside = GATE_INIT, never = GATE_INIT, looked = GATE_INIT, look = GATE_INIT;
static int gone;

/* Constructed first, so destroyed last: all slots have been destroyed. */
struct last {
    ~last() {
        if (!armed) return;
        CHECK_IS(destroyed, gone);
        gate_open(&look);
        gate_wait(&looked);
        CHECK_IS(destroyed, gone);
        _exit(0);
    }
    bool armed = false;
};
static last after_all;
static lazyonce::slot<fixed> global(make_fixed);
struct backend {
    std::string name{"backend"};
    lazyonce::slot<fixed> common{[](std::uint32_t index) {
                                     if (index == 1) {
                                         gate_open(&inside);
                                         gate_wait(&never);
                                     }
                                     return fixed(index);
                                 },
                                 {LAZY_SLOT_PROCESS}};
};
static backend of_program;

static lazyonce::slot<fixed> &local() {
    static lazyonce::slot<fixed> slot(make_fixed); /* constructed after others have values */
    return slot;
}

static void *holds(void *) {
    fixed *seen[] = {&global.get(1), &local().get(1), &of_program.common.get(0)};
    gate_open(&never);
    gate_wait(&look);
    for (fixed *value : seen) {
        CHECK_IS(value->mark, 1234);
        value->lock.lock();
    }
    CHECK(&global.get(1) == seen[0] && &local().get(1) == seen[1] && &of_program.common.get(0) == seen[2]);
    gate_open(&looked);
    return pause(), nullptr;
}
static void *makes(void *) { return &of_program.common.get(1); }
static std::atomic<int> waiter;
static void *waits(void *) {
    waiter = thread_id();
    return &of_program.common.get(1);
}

static void exits() {
    global.get(0);
    on_a_thread([] { global.get(0), local().get(5), of_program.common.get(0); });
    gone = destroyed;
    start(holds, nullptr);
    gate_wait(&never);
    never = GATE_INIT;
    start(makes, nullptr);
    gate_wait(&inside);
    start(waits, nullptr);
    while (!waiter) sched_yield();
    until_asleep(waiter);
    after_all.armed = true;
    exit(1);
}

int main() {
    in_child(exits);
    in_child([] { in_child(exits); });
    global.get(0); /* for the end of this process */
    return finish();
}
