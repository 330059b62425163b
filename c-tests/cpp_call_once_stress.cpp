// Guards against what only chance finds: many threads over the same flags, a third of the calls throw; each flag is called well exactly once,
// each exception reaches the thread whose call threw it, and what the call wrote is there for everybody. Both are checked alike.
#include "call_once.hpp"
#include <memory>
#include <vector>

template <class Once> static void all() {
    struct slot {
        typename Once::flag flag;
        std::atomic<int> good{0};
        int value = 0; /* not atomic: the flag makes it visible */
    };
    const auto count = static_cast<std::size_t>(rounds(20000));
    std::vector<slot> slots(count);
    std::atomic<int> thrown{0}, arrived{0};
    auto visit = [&] {
        int me = thread_id();
        auto random = static_cast<unsigned>(me) * 2654435761u;
        ++arrived;
        while (arrived < 4) sched_yield();
        for (slot &at : slots) {
            for (bool done = false; !done;) {
                random = random * 1103515245u + 12345u;
                bool fails = (random >> 16) % 3 == 0;
                try {
                    Once::call(at.flag, [&] {
                        ++at.value;
                        if (fails && (standard_survives_exceptions || std::is_same_v<Once, ours>)) throw refused{me};
                        ++at.good;
                    });
                    done = true;
                    CHECK(at.value >= 1);
                } catch (const refused &error) {
                    CHECK_IS(error.number, me);
                    ++thrown;
                }
            }
        }
    };
    std::vector<std::unique_ptr<running<decltype(visit)>>> threads;
    for (int i = 0; i < 4; i++) threads.push_back(std::make_unique<running<decltype(visit)>>(visit));
    for (auto &thread : threads) thread->join();
    long values = 0;
    for (slot &at : slots) {
        CHECK_IS(at.good, 1);
        values += at.value;
    }
    CHECK_IS(values, static_cast<long>(count) + thrown);
}

int main() {
    all<ours>();
    all<standard>();
    return finish();
}
