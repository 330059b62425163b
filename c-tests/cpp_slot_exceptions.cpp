// Guards against a factory's exception that is wrapped, lost, mixed up or thrown through the library: it comes out of get() as itself
// in the thread that ran it, in both scopes and out of nested factories; who waited gets an `error` with code -1 and its text; nothing is
// kept, and the next get makes the value. A factory that wants its own value gets LAZY_E_DEADLOCK; a failure in C is an `error`.
#include "cpp_slots.hpp"

static std::atomic<int> attempts;
struct picky {
    explicit picky(std::uint32_t index) : value(index) {
        int attempt = ++attempts;
        if (attempt == 1) throw broken();
        if (attempt == 2) throw refused{17};
        if (attempt == 3) throw std::string("text");
        if (attempt == 4) throw lazyonce::error(LAZY_E_TIMEOUT, 5, "of a once");
    }
    picky(const picky &) = delete;
    fixed value;
};

static void of_the_maker(std::uint32_t scope) {
    attempts = made = destroyed = 0;
    {
        lazyonce::slot<picky> slot([](std::uint32_t index) { return picky(index); }, {scope});
        CHECK_HAS(caught<broken>([&] { slot.get(1); }).what(), "cable");
        CHECK(!slot.has(1));
        CHECK_IS(caught<refused>([&] { slot.get(1); }).number, 17);
        CHECK(caught<std::string>([&] { slot.get(1); }) == "text");
        CHECK_IS(caught<lazyonce::error>([&] { slot.get(1); }).status(), LAZY_E_TIMEOUT);
        CHECK_IS(slot.get(1).value.index, 1);
        CHECK_IS(made, 5);
        CHECK_IS(destroyed, 4);
    }
    CHECK_IS(destroyed, 5);
}

static void of_those_who_wait() {
    gate inside = GATE_INIT, go = GATE_INIT;
    bool first = true;
    lazyonce::slot<fixed> slot(
        [&](std::uint32_t index) {
            gate_open(&inside);
            gate_wait(&go);
            if (std::exchange(first, false)) throw broken();
            return fixed(index);
        },
        {LAZY_SLOT_PROCESS, nullptr, false, "cables"});
    running maker([&] { CHECK_HAS(caught<broken>([&] { slot.get(); }).what(), "cable"); });
    gate_wait(&inside);
    running waiter([&] {
        auto error = caught<lazyonce::error>([&] { slot.get(); });
        CHECK_IS(error.status(), LAZY_E_CALLBACK);
        CHECK_IS(error.code(), -1);
        CHECK_HAS(error.what(), "the cable is broken");
        CHECK_HAS(error.what(), "cables");
        CHECK_IS(slot.get().index, 0);
    });
    waiter.until_asleep();
    gate_open(&go);
    maker.join();
    waiter.join();
}

/* Each call has the exception of its own factory: the inner one's is handled, the outer one's is another. */
static void of_nested_factories() {
    lazyonce::slot<int> inner([](std::uint32_t index) -> int { throw refused{static_cast<int>(index)}; });
    lazyonce::slot<int> passes([&](std::uint32_t index) { return inner.get(index); });
    CHECK_IS(caught<refused>([&] { passes.get(21); }).number, 21);
    static lazyonce::slot<int> *same;
    lazyonce::slot<int> down([](std::uint32_t index) -> int {
        if (index == 0) throw refused{0};
        CHECK_IS(caught<refused>([&] { same->get(index - 1); }).number, static_cast<int>(index) - 1);
        throw refused{static_cast<int>(index)};
    });
    same = &down;
    CHECK_IS(caught<refused>([&] { down.get(5); }).number, 5);
    lazyonce::slot<int> handles([&](std::uint32_t index) {
        try {
            return inner.get(index);
        } catch (const refused &thrown) {
            return thrown.number + 1;
        }
    });
    CHECK_IS(handles.get(3), 4);
    static lazyonce::once once;
    lazyonce::slot<int> of_once([&](std::uint32_t) {
        once.call([] { throw refused{31}; });
        once.init();
        return 1;
    });
    CHECK_IS(caught<lazyonce::deferred_error>([&] { of_once.get(); }).code(), -1);
    CHECK_IS(once.close(), LAZY_OK);
}

static void of_recursion(std::uint32_t scope) {
    static lazyonce::slot<int> *self;
    lazyonce::slot<int> slot(
        [](std::uint32_t index) {
            throws_status([&] { self->get(index); }, LAZY_E_DEADLOCK);
            return index ? 1 : self->get(1) + 1;
        },
        {scope});
    self = &slot;
    CHECK_IS(slot.get(), 2);
    lazyonce::slot<int> unhandled([](std::uint32_t index) { return self->get(index); }, {scope});
    self = &unhandled;
    auto error = caught<lazyonce::error>([] { self->get(4); });
    CHECK_IS(error.status(), LAZY_E_DEADLOCK);
    CHECK_HAS(error.what(), "index 4");
}

int main() {
    for (std::uint32_t scope : {LAZY_SLOT_THREAD, LAZY_SLOT_PROCESS}) {
        of_the_maker(scope);
        of_recursion(scope);
    }
    of_those_who_wait();
    of_nested_factories();
    lazyonce::slot<int> unknown([](std::uint32_t) { return 1; }, {77});
    throws_status([&] { unknown.get(); }, LAZY_E_INVALID);
    CHECK(lazyonce::detail::innermost == nullptr);
    return finish();
}
