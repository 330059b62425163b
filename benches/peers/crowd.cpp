// Threads wait for one that initializes. How long after the end of its initializer is that thread back from its call, and
// when does the last waiter run? Every waiter is asleep in the kernel when the initializer ends.
#include <fcntl.h>
#include <lazyonce.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include "peer.hpp"

static int64_t now() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A count that threads sleep on until it changes, with nothing around it that could delay who measures.
struct count {
    std::atomic<unsigned> value{0};
    void await(unsigned wanted) {
        for (unsigned seen; (seen = value.load()) != wanted;) syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, seen, nullptr);
    }
    void wake() { syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, INT_MAX); }
};

static count round_now, returned;
static const gate *playing;
static int64_t ended, runs_on;

class waiter {
public:
    waiter(unsigned first_round, unsigned crowd) : thread([=] { play(first_round, crowd); }) {}
    ~waiter() {
        thread.join();
        if (look >= 0) close(look);
    }

    // True if the kernel shows it asleep in this round's once, in the very same call as at the last look.
    bool is_still_asleep() {
        if (entered.load() != round_now.value) return false;
        if (look < 0) look = open(("/proc/self/task/" + std::to_string(id) + "/syscall").c_str(), O_RDONLY);
        char text[256];
        const ssize_t size = pread(look, text, sizeof text, 0);
        if (size <= 0) {
            perror("/proc/self/task/*/syscall, which shows who is asleep");
            _exit(1);
        }
        std::string seen(text, size);
        const bool same = seen == before && seen[0] != 'r' && atol(text) == SYS_futex;
        before = std::move(seen);
        return same;
    }

    int64_t ran = 0;

private:
    void play(unsigned first_round, unsigned crowd);

    int id = 0, look = -1;
    std::string before;
    std::atomic<unsigned> entered{0};
    std::thread thread;
};

static std::deque<waiter> waiters;

static void next_round() {
    round_now.value++;
    round_now.wake();
}

static void await_sleepers() {
    next_round();
    for (int looks = 0; looks < 3; looks++)
        for (waiter &one : waiters)
            while (!one.is_still_asleep()) {
                looks = -1;
                sched_yield();
            }
}

// What the gates run: lets the waiters come, and ends when three looks in a row at all of them have found nobody awake.
static void initialize() {
    await_sleepers();
    ended = now();
}

// A lock as an interpreter has one. Whoever uses a gate below holds it; the initializer lets it go for a while, as an import does.
static std::mutex host_lock;
static thread_local bool holds_host;
static void take_host() { host_lock.lock(), holds_host = true; }
static void give_host() { holds_host = false, host_lock.unlock(); }

static void initialize_under_host() {
    give_host();
    await_sleepers();
    take_host();
    ended = now();
}

static int32_t run_attached(void *, void (*body)(void *), void *arg) {
    const bool held = holds_host;
    if (!held) take_host();
    body(arg);
    if (!held) give_host();
    return 0;
}
static int32_t wait_detached(void *, void (*park)(void *), void (*)(void *), void *arg) {
    give_host();
    park(arg);
    take_host();
    return 0;
}
static const lazy_host host = {sizeof(lazy_host), "lock", nullptr, run_attached, wait_detached};

static int32_t initialize_lazily(void *) { return initialize_under_host(), 0; }
static const lazy_config config = {
    sizeof(lazy_config), "hosted", initialize_lazily, nullptr, nullptr, nullptr, &host, 0, 0, 0, 0, 0};
static lazy_once hosted = LAZY_ONCE_WITH(&config);

static std::optional<std::once_flag> flag;
static void initialize_attached() {
    take_host();
    initialize_under_host();
    give_host();
}

// Each is entered and left with the lock held.
SHOWN const gate gates[] = {
    {"lazyonce", [] { lazy_once_close(&hosted), hosted = LAZY_ONCE_WITH(&config); },
     [](void (*)()) { if (lazy_once_init(&hosted) != LAZY_OK) abort(); }},
    {"std::call_once", [] { flag.emplace(); },
     [](void (*)()) {
         give_host();
         std::call_once(*flag, initialize_attached);
         take_host();
     }},
    {},
};
SHOWN const loop loops[] = {{}};

static bool is_hosted(const gate *gate) { return gate >= gates && gate < gates + sizeof gates / sizeof *gates; }

static int64_t run(const gate &gate) {
    if (!is_hosted(&gate)) {
        gate.run(initialize);
        return now();
    }
    take_host();
    gate.run(nullptr);
    const int64_t back = now();
    give_host();
    return back;
}

void waiter::play(unsigned first_round, unsigned crowd) {
    id = (int)syscall(SYS_gettid);
    for (unsigned round = first_round;; round++) {
        round_now.await(round);
        if (!playing) return;
        entered = round;
        ran = run(*playing);
        while (now() < ran + runs_on) {}
        if (++returned.value == crowd) returned.wake();
    }
}

// The crowd, of threads that run on for so long before they sleep again.
SHOWN void crowd_begin(unsigned crowd, int64_t ns) {
    runs_on = ns;
    while (waiters.size() < crowd) waiters.emplace_back(round_now.value + 1, crowd);
}

// One round: the times in ns after which the initializing thread was back and the last waiter ran.
SHOWN void crowd_play(const gate &gate, int64_t times[2]) {
    gate.make();
    returned.value = 0;
    playing = &gate;
    const int64_t back = run(gate);
    // Asleep, so that the CPUs are the waiters'.
    returned.await(waiters.size());
    int64_t last = 0;
    for (const waiter &one : waiters) last = std::max(last, one.ran);
    times[0] = back - ended;
    times[1] = last - ended;
}

SHOWN void crowd_end() {
    playing = nullptr;
    next_round();
    waiters.clear();
}
