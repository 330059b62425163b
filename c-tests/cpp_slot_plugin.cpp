/* A plugin with static slots, for the program about unloading: what it counts is the program's. */
#include <lazyonce.hpp>

struct counts { int made, destroyed; };

namespace {

counts *of_program;
struct value {
    explicit value(std::uint32_t number) : index(number) { __atomic_fetch_add(&of_program->made, 1, __ATOMIC_SEQ_CST); }
    value(const value &) = delete;
    ~value() { __atomic_fetch_add(&of_program->destroyed, 1, __ATOMIC_SEQ_CST); }
    std::uint32_t index;
};
value make(std::uint32_t index) {
    if (index == 13) throw 13;
    return value(index);
}
lazyonce::slot<value> own(make, {LAZY_SLOT_THREAD, nullptr, true, "the plugin's"});
lazyonce::slot<value> common(make, {LAZY_SLOT_PROCESS});

}  // namespace

/* Uses all of it on this thread. 0 is success. The first caller gives the counts. */
extern "C" int plugin_use(counts *to) {
    if (to) of_program = to;
    for (std::uint32_t i = 0; i < 4; i++)
        if (own.get(i).index != i || common.get(i).index != i) return 1;
    try {
        own.get(13);
    } catch (int thrown) {
        return thrown == 13 ? 0 : 2;
    }
    return 3;
}
