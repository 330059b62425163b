// unit: cpp_modes_unit.cpp -DMODE=silent -fno-exceptions -fno-sanitize=vptr
// unit: cpp_modes_unit.cpp -DMODE=plain -fno-rtti -fno-sanitize=vptr
// unit: cpp_modes_unit.cpp -DMODE=bare -fno-exceptions -fno-rtti -O0 -fno-sanitize=vptr
// flags: -fno-sanitize=vptr
// Guards against files of several modes that get each other's functions: linked into one program, with the same onces and flags passed
// between them, a failing call is thrown where there are exceptions and returned where there are none; what is queued in one is run
// in another; a value that one makes is found in the others; an error thrown by a file without RTTI is caught by its type in one that
// has it, and one thrown there keeps its RTTI.
#include "caught.hpp"
#define MODE full
#include "cpp_modes.hpp"

lazyonce::once shared_once;
lazyonce::once_flag shared_flag;

#define DECLARE(name) \
    namespace name { \
    int queue(lazyonce::once &once, int *ran); \
    int initialize(lazyonce::once &once); \
    bool try_to(lazyonce::once &once); \
    int flag(lazyonce::once_flag &once, int *status_inside); \
    int closed(lazyonce::once &once); \
    lazyonce::slot<int> &slot(); \
    int look_up(lazyonce::slot<int> &slot, std::uint32_t index); \
    lazyonce::thread_state capture(); \
    int look_up_inside(const lazyonce::thread_state &state, lazyonce::slot<int> &slot, std::uint32_t index); \
    }
DECLARE(silent)
DECLARE(plain)
DECLARE(bare)

template <class Initialize> static void drains(Initialize initialize) {
    int ran = 0;
    lazyonce::once once;
    for (auto queue : {full::queue, silent::queue, plain::queue, bare::queue}) CHECK_IS(queue(once, &ran), LAZY_QUEUED);
    CHECK_IS(initialize(once), LAZY_OK);
    CHECK_IS(ran, 4);
    for (auto queue : {full::queue, silent::queue, plain::queue, bare::queue}) CHECK_IS(queue(once, &ran), LAZY_OK);
    CHECK_IS(ran, 8);
}

/* Values made by one file, found by the others, shared by a state of each. */
static void slots() {
    for (auto make : {full::slot, silent::slot, plain::slot, bare::slot}) {
        int wanted = 70;
        for (auto look_up : {full::look_up, silent::look_up, plain::look_up, bare::look_up}) CHECK_IS(look_up(make(), 7), ++wanted);
        for (auto capture : {full::capture, silent::capture, plain::capture, bare::capture}) {
            auto state = capture();
            for (auto look_up : {full::look_up_inside, silent::look_up_inside, plain::look_up_inside, bare::look_up_inside}) {
                running worker([&] { CHECK_IS(look_up(state, make(), 7), ++wanted); });
                worker.join();
            }
        }
    }
    lazyonce::slot<int> failing([](std::uint32_t) -> int { throw refused{3}; });
    CHECK_IS(caught<refused>([&] { plain::look_up(failing, 1); }).number, 3);
}

int main() {
    slots();
    for (auto initialize : {full::initialize, silent::initialize, plain::initialize, bare::initialize}) drains(initialize);
    for (auto flag : {full::flag, silent::flag, plain::flag, bare::flag}) {
        lazyonce::once_flag once;
        int inside = 0;
        CHECK_IS(flag(once, &inside), 1);
        CHECK_IS(inside, LAZY_E_DEADLOCK);
        for (auto again : {full::flag, silent::flag, plain::flag, bare::flag}) CHECK_IS(again(once, &inside), 0);
    }
    CHECK_IS(shared_once.close(), LAZY_OK);
    CHECK_IS(full::closed(shared_once), LAZY_E_CLOSED * 1000);
    CHECK_IS(plain::closed(shared_once), LAZY_E_CLOSED * 1000);
    CHECK_IS(silent::closed(shared_once), LAZY_E_CLOSED);
    CHECK_IS(bare::closed(shared_once), LAZY_E_CLOSED);
    CHECK(!silent::try_to(shared_once) && !bare::try_to(shared_once));

    lazyonce::once failing;
    failing.call([] { throw refused{6}; });
    throws_status([&] { plain::initialize(failing); }, LAZY_E_DEFERRED);
    CHECK_IS(caught<lazyonce::deferred_error>([&] { plain::initialize(failing); }).code(), -1);
    try {
        full::initialize(failing);
        CHECK(!"nothing was thrown");
    } catch (const std::exception &error) {
        CHECK(dynamic_cast<const lazyonce::deferred_error *>(&error));
        CHECK_IS(caught<refused>([&] { std::rethrow_if_nested(error); }).number, 6);
    }
    try {
        full::initialize(shared_once);
        CHECK(!"nothing was thrown");
    } catch (const lazyonce::error &error) {
        CHECK(!is_deferred(error));
    }
    CHECK_IS(silent::initialize(failing), LAZY_E_DEFERRED); /* nobody above who could throw it again: a code and a text */
    CHECK_IS(lazy_last_error()->code, -1);
    CHECK_HAS(lazy_last_error()->message, "no std::exception");
    CHECK_IS(failing.close(), LAZY_OK);
    return finish();
}
