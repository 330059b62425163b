// Guards against slots that are destroyed while exit() runs, and are taken for ones that it destroys: the local one of a thread that a
// static destructor joins, whose values outlive what they refer to, and those made in an exit handler, in a static destructor or on the
// heap meanwhile, whose values are never destroyed.
#include "cpp_slots.hpp"
#include "forked_child.h"
#include <memory>

struct journal {
    ~journal() { is_open = false; }
    bool is_open = true;
    int lines = 0;
};
struct writer {
    explicit writer(journal *to) : file(to) { ++made; }
    writer(const writer &) = delete;
    ~writer() {
        CHECK(file->is_open);
        ++file->lines;
        ++destroyed;
    }
    journal *file;
};

static gate used = GATE_INIT, stop = GATE_INIT;
static void *works(void *) {
    auto file = std::make_unique<journal>(); /* destroyed after the slot */
    lazyonce::slot<writer> slot([&](std::uint32_t) { return writer(file.get()); });
    slot.get();
    gate_open(&used);
    gate_wait(&stop);
    return nullptr;
}

/* Constructed first, so destroyed last. */
struct last {
    ~last() {
        if (wanted < 0) return;
        CHECK_IS(made, wanted);
        CHECK_IS(destroyed, wanted);
        _exit(0);
    }
    int wanted = -1;
};
static last after_all;

struct pool {
    ~pool() {
        if (!is_used) return;
        gate_open(&stop);
        join(thread);
        CHECK_IS(destroyed, 1);
    }
    pthread_t thread{};
    bool is_used = false;
};
static pool threads;

static void uses() {
    journal file;
    int before = destroyed;
    {
        lazyonce::slot<writer> slot([&](std::uint32_t) { return writer(&file); });
        slot.get(1);
        slot.get(2);
        on_a_thread([&] { slot.get(1); });
        auto other = std::make_unique<lazyonce::slot<writer>>([&](std::uint32_t) { return writer(&file); });
        other->get();
    }
    CHECK_IS(destroyed - before, 4);
    CHECK_IS(file.lines, 4);
}
struct uses_late {
    ~uses_late() {
        if (is_armed) uses();
    }
    bool is_armed = false;
};
static uses_late early, late;

static void joins() {
    after_all.wanted = 1;
    threads.is_used = true;
    threads.thread = start(works, nullptr);
    gate_wait(&used);
    exit(1);
}
/* Before the mark of the first slot is reached, behind it, and with none. */
static void handlers() {
    after_all.wanted = 20;
    early.is_armed = late.is_armed = true;
    std::atexit(uses);
    uses();
    std::atexit(uses);
    exit(1);
}
static void handlers_alone() {
    after_all.wanted = 8;
    early.is_armed = true;
    std::atexit(uses);
    exit(1);
}

int main() {
    in_child(joins);
    in_child(handlers);
    in_child(handlers_alone);
    return finish();
}
