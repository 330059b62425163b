// Guards against a worker that gets a copy, its own value, or one that is gone: inside a scope it finds the parent's object itself,
// at the same time as others, also when the parent's thread has ended; the innermost scope counts; its own is back after the scope,
// which an exception may end; the object goes with its thread and the last snapshot. Slots that are not shared stay the worker's.
#include "cpp_slots.hpp"
#include <optional>

using lazyonce::thread_state;
static lazyonce::slot<fixed> shared(make_fixed, {LAZY_SLOT_THREAD, nullptr, true}), unshared(make_fixed);

static void outlives_the_parent() {
    made = destroyed = 0;
    std::optional<thread_state> state;
    fixed *of_parent = nullptr;
    on_a_thread([&] {
        of_parent = &shared.get(1);
        unshared.get(1);
        state = thread_state::capture();
    });
    CHECK_IS(made, 2);
    CHECK_IS(destroyed, 1);
    auto worker = [&] {
        fixed &own = unshared.get(1);
        {
            thread_state::scope in(*state);
            CHECK(&shared.get(1) == of_parent && shared.has(1) && !shared.has(2));
            CHECK(&unshared.get(1) == &own);
            of_parent->uses++;
            shared.get(2);
        }
        CHECK(!shared.has(1) && shared.has(2));
    };
    running one(worker), two(worker), three(worker);
    one.join(), two.join(), three.join();
    CHECK_IS(of_parent->uses, 3);
    CHECK_IS(destroyed, 7);
    state.reset();
    CHECK_IS(made, 8);
    CHECK_IS(destroyed, 8);
}

static void nests() {
    made = destroyed = 0;
    fixed &mine = shared.get(0);
    auto outer = thread_state::capture();
    on_a_thread([&] {
        fixed &own = shared.get(0);
        auto inner = thread_state::capture();
        thread_state::scope first(outer);
        CHECK(&shared.get(0) == &mine);
        try {
            thread_state::scope second(inner);
            CHECK(&shared.get(0) == &own);
            thread_state::scope third(outer);
            CHECK(&shared.get(0) == &mine);
            auto seen = thread_state::capture();
            thread_state::scope fourth(inner), fifth(seen);
            CHECK(&shared.get(0) == &mine);
            throw refused{1};
        } catch (const refused &) {
        }
        CHECK(&shared.get(0) == &mine);
        CHECK_IS(destroyed, 0);
    });
    CHECK_IS(destroyed, 1);
}

static void is_freed_inside() {
    made = destroyed = 0;
    std::optional<thread_state> state;
    on_a_thread([&] {
        shared.get(3);
        state = thread_state::capture();
    });
    gate entered = GATE_INIT, freed = GATE_INIT;
    running worker([&] {
        thread_state::scope in(*state);
        gate_open(&entered);
        gate_wait(&freed);
        CHECK_IS(shared.get(3).mark, 1234);
        CHECK_IS(destroyed, 0);
    });
    gate_wait(&entered);
    state.reset();
    gate_open(&freed);
    worker.join();
    CHECK_IS(destroyed, 1);
}

static void moves() {
    static_assert(std::is_nothrow_move_constructible_v<thread_state> && std::is_nothrow_move_assignable_v<thread_state>);
    static_assert(!std::is_copy_constructible_v<thread_state> && !std::is_copy_assignable_v<thread_state>);
    static_assert(!std::is_move_constructible_v<thread_state::scope> && !std::is_move_constructible_v<lazyonce::slot<int>>);
    made = destroyed = 0;
    std::optional<thread_state> first, second;
    on_a_thread([&] { shared.get(4), first = thread_state::capture(); });
    on_a_thread([&] { shared.get(4), second = thread_state::capture(); });
    auto handle = first->native_handle();
    thread_state taken(std::move(*first));
    CHECK(taken.native_handle() == handle && taken && !*first);
    throws_status([&] { thread_state::scope in(*first); }, LAZY_E_INVALID);
    CHECK_IS(destroyed, 0);
    *second = std::move(taken); /* what it had goes */
    CHECK(second->native_handle() == handle && !taken);
    CHECK_IS(destroyed, 1);
    thread_state &same = *second;
    *second = std::move(same);
    CHECK(second->native_handle() == handle);
    *first = std::move(*second); /* into an empty one */
    on_a_thread([&] {
        thread_state state(std::move(*first));
        thread_state::scope in(state);
        CHECK_IS(shared.get(4).index, 4);
    });
    CHECK_IS(destroyed, 2);
}

/* A slot that is destroyed before a snapshot takes its values along, and the snapshot ends without them. */
static void slot_goes_first() {
    made = destroyed = 0;
    std::optional<lazyonce::slot<fixed>> slot;
    slot.emplace(make_fixed, lazyonce::slot_options{LAZY_SLOT_THREAD, nullptr, true});
    slot->get();
    auto state = thread_state::capture();
    thread_state::scope in(state);
    slot.reset();
    CHECK_IS(destroyed, 1);
}

int main() {
    on_a_thread(outlives_the_parent);
    on_a_thread(nests);
    on_a_thread(is_freed_inside);
    on_a_thread(moves);
    on_a_thread(slot_goes_first);
    return finish();
}
