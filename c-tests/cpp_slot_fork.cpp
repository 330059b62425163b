// not-under: valgrind: what is forgotten in the child is not freed, as documented
// Guards against an on_fork that does not arrive: a forked child finds the values as they were, LAZY_E_FORKED with the slot's name, or
// new ones; the parent keeps what it has.
#include "cpp_slots.hpp"
#include "forked_child.h"

static lazyonce::slot<fixed> *slot;

static void finds_it() { CHECK(slot->has(4) && slot->get(4).index == 4 && made == 1); }
static void is_refused() {
    auto error = caught<lazyonce::error>([] { slot->get(4); });
    CHECK_IS(error.status(), LAZY_E_FORKED);
    CHECK_HAS(error.what(), "devices");
}
static void makes_it() { CHECK(!slot->has(4) && slot->get(4).index == 4 && made == 2); }

static void forks(std::uint32_t policy, void (*child)()) {
    made = destroyed = 0;
    {
        lazyonce::slot_options how;
        how.name = "devices";
        how.on_fork = policy;
        lazyonce::slot<fixed> forked(make_fixed, how);
        slot = &forked;
        slot->get(4);
        in_child(child);
        finds_it();
    }
    CHECK_IS(destroyed, 1);
}

int main() {
    forks(LAZY_FORK_KEEP, finds_it);
    forks(LAZY_FORK_POISON, is_refused);
    forks(LAZY_FORK_RESET, makes_it);
    return finish();
}
