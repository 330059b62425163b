// not-under: asan: it does not clean up after frames that the end of a thread unwinds
// Guards against the end of a thread that is swallowed in a factory, or leaves something behind: by pthread_exit and by cancellation its
// destructors run, nothing is kept, the waiter makes the value, and an exception afterwards goes to the right call.
#include "cpp_slots.hpp"

static int marker;
static void exits() { pthread_exit(&marker); }
static void is_cancelled() {
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

static void ends_inside(void (*leave)()) {
    made = destroyed = 0;
    {
        gate inside = GATE_INIT, go = GATE_INIT;
        std::atomic<int> calls{0};
        lazyonce::slot<fixed> slot(
            [&](std::uint32_t index) {
                fixed unwound(index);
                if (++calls == 1) {
                    gate_open(&inside);
                    gate_wait(&go);
                    leave();
                }
                if (calls == 3) throw refused{3};
                return fixed(index);
            },
            {LAZY_SLOT_PROCESS});
        running leaver([&] { slot.get(); });
        gate_wait(&inside);
        running waiter([&] {
            throws_status([&] { slot.get(); }, LAZY_E_CALLBACK);
            slot.get();
        });
        waiter.until_asleep();
        gate_open(&go);
        void *result = leaver.join();
        CHECK(result == &marker || result == PTHREAD_CANCELED);
        waiter.join();
        CHECK_IS(made, 3);
        CHECK_IS(destroyed, 2);
        CHECK_IS(caught<refused>([&] { slot.get(1); }).number, 3);
    }
    CHECK_IS(destroyed, made);
}

int main() {
    ends_inside(exits);
    ends_inside(is_cancelled);
    return finish();
}
