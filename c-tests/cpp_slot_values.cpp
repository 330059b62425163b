// Guards against a value that is made twice, moved, kept too long or destroyed too early: of each thread and index one, made in place
// on the thread that asks; of the process one for all threads, different indices at the same time; destroyed at the end of the
// thread and by the slot's destructor, those of running threads too. Factories are any callable, and go with the slot.
#include "cpp_slots.hpp"
#include <memory>

static void of_each_thread() {
    made = destroyed = 0;
    {
        lazyonce::slot<fixed> slot(make_fixed);
        CHECK(!slot.has(2));
        fixed &mine = slot.get(2);
        CHECK(slot.has(2) && !slot.has());
        CHECK_IS(mine.index, 2);
        CHECK(&slot.get(2) == &mine);
        CHECK_IS(slot.get().index, 0);
        CHECK_IS(made, 2);
        on_a_thread([&] {
            CHECK(!slot.has(2));
            CHECK(&slot.get(2) != &mine);
            CHECK_IS(slot.get(2).maker, thread_id());
        });
        CHECK_IS(made, 3);
        CHECK_IS(destroyed, 1);
        gate has_one = GATE_INIT, is_retired = GATE_INIT;
        auto stays = [&] {
            slot.get(7);
            gate_open(&has_one);
            gate_wait(&is_retired);
        };
        static running<decltype(stays)> *thread;
        thread = new running(stays);
        gate_wait(&has_one);
        slot.~slot();
        CHECK_IS(made, 4);
        CHECK_IS(destroyed, 4);
        gate_open(&is_retired);
        thread->join();
        delete thread;
        new (&slot) lazyonce::slot<fixed>(make_fixed); /* for the end of the block; never used */
    }
    CHECK_IS(destroyed, 4);
}

static void of_the_process() {
    made = destroyed = 0;
    {
        static gate inside[2] = {GATE_INIT, GATE_INIT};
        auto meets = [](std::uint32_t index) { /* in parallel: each waits for the other */
            gate_open(&inside[index]);
            gate_wait(&inside[1 - index]);
            return fixed(index);
        };
        lazyonce::slot<fixed> slot(meets, {LAZY_SLOT_PROCESS});
        fixed *seen[4];
        auto look = [&](int number) {
            auto index = static_cast<std::uint32_t>(number % 2);
            seen[number] = &slot.get(index);
            CHECK_IS(seen[number]->index, index); /* whoever made it */
        };
        running first([&] { look(0); });
        running second([&] { look(1); });
        running third([&] { look(2); });
        running fourth([&] { look(3); });
        first.join(), second.join(), third.join(), fourth.join();
        CHECK(seen[0] == seen[2] && seen[1] == seen[3] && seen[0] != seen[1]);
        CHECK(&slot.get(1) == seen[1]);
        CHECK_IS(made, 2);
        CHECK_IS(destroyed, 0);
    }
    CHECK_IS(destroyed, 2);
}

struct alignas(256) wide {
    long parts[3];
};
static void of_every_kind() {
    auto token = std::make_shared<int>(7);
    {
        lazyonce::slot<long> converted([only = std::make_unique<int>(5)](std::uint32_t index) { return *only + static_cast<int>(index); });
        CHECK_IS(converted.get(2), 7);
        converted.get(2) = 9;
        CHECK_IS(converted.get(2), 9);
        lazyonce::slot<const wide> aligned([](std::uint32_t) { return wide{{1, 2, 3}}; });
        CHECK_IS(reinterpret_cast<std::uintptr_t>(&aligned.get()) % 256, 0);
        lazyonce::slot<std::shared_ptr<int>> kept([token](std::uint32_t) { return token; });
        CHECK_IS(*kept.get(), 7);
        CHECK_IS(token.use_count(), 3);
        lazyonce::slot<int> unused([token](std::uint32_t) { return 0; });
        int calls = 0;
        lazyonce::slot<int> counting([calls](std::uint32_t) mutable { return ++calls; });
        CHECK_IS(counting.get(0) * 10 + counting.get(1), 12);
    }
    CHECK_IS(token.use_count(), 1);
}

/* From inside one of its own callbacks a slot cannot be retired: what those need stays. */
static void destroyed_from_inside() {
    made = destroyed = 0;
    static lazyonce::slot<fixed> *slot;
    slot = new lazyonce::slot<fixed>([words = std::string(100, 'x')](std::uint32_t index) {
        delete slot;
        CHECK_IS(words.size(), 100);
        return fixed(index);
    });
    on_a_thread([] { slot->get(3); });
    CHECK_IS(made, 1);
    CHECK_IS(destroyed, 1);
}

int main() {
    of_each_thread();
    of_the_process();
    of_every_kind();
    destroyed_from_inside();
    return finish();
}
