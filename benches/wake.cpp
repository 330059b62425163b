// Threads wait for one that initializes. How long after the end of its initializer is that thread back from its call, and
// when does the last waiter run? Each round has a fresh once for each peer, in a random order; every waiter is asleep in the
// kernel when the initializer ends. Prints one line for each: waiters, peer, and both times in nanoseconds.
// Arguments: how many rounds, then the numbers of waiters; 64+20 are 64 that each run on for 20 us.
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
#include <optional>
#include <random>
#include <string>
#include <thread>

extern "C" void rust_once_make();
extern "C" void rust_once_run(void (*initialize)());

static void initialize();
static int32_t initialize_lazily(void *) {
    initialize();
    return 0;
}

static lazy_once once;
static std::optional<std::once_flag> flag;
static pthread_once_t control;

struct peer {
    const char *name;
    void (*make)();
    void (*run)();
};
static peer peers[] = {
    {"lazyonce", [] { once = LAZY_ONCE_INIT; }, [] { if (lazy_once_run(&once, initialize_lazily, nullptr)) abort(); }},
    {"std::call_once", [] { flag.emplace(); }, [] { std::call_once(*flag, initialize); }},
    {"pthread_once", [] { control = PTHREAD_ONCE_INIT; }, [] { pthread_once(&control, initialize); }},
    {"Rust Once", rust_once_make, [] { rust_once_run(initialize); }},
};

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
static const peer *playing;
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
    void play(unsigned first_round, unsigned crowd) {
        id = (int)syscall(SYS_gettid);
        for (unsigned round = first_round;; round++) {
            round_now.await(round);
            if (!playing) return;
            entered = round;
            playing->run();
            ran = now();
            while (now() < ran + runs_on) {}
            if (++returned.value == crowd) returned.wake();
        }
    }

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

// What the peers run: lets the waiters come, and ends when three looks in a row at all of them have found nobody awake.
static void initialize() {
    next_round();
    for (int looks = 0; looks < 3; looks++)
        for (waiter &one : waiters)
            while (!one.is_still_asleep()) {
                looks = -1;
                sched_yield();
            }
    ended = now();
}

static void play(const peer &peer, const char *printed_as) {
    peer.make();
    returned.value = 0;
    playing = &peer;
    peer.run();
    const int64_t back = now();
    // Asleep, so that the CPUs are the waiters'.
    returned.await(waiters.size());
    int64_t last = 0;
    for (const waiter &one : waiters) last = std::max(last, one.ran);
    if (!printed_as) return;
    printf("%s\t%s\t%lld\t%lld\n", printed_as, peer.name, (long long)(back - ended), (long long)(last - ended));
}

int main(int argc, char **argv) {
    const int unmeasured = 3, rounds = argc > 1 ? atoi(argv[1]) : 0;
    std::mt19937 random(1);
    alarm(300);  // a waiter that is never woken ends the bench
    for (int i = 2; i < argc; i++) {
        char *rest;
        const unsigned crowd = (unsigned)strtoul(argv[i], &rest, 10);
        runs_on = strtol(rest, nullptr, 10) * 1000;
        while (waiters.size() < crowd) waiters.emplace_back(round_now.value + 1, crowd);
        for (int round = -unmeasured; round < rounds; round++) {
            std::shuffle(std::begin(peers), std::end(peers), random);
            for (const peer &peer : peers) play(peer, round < 0 ? nullptr : argv[i]);
        }
        playing = nullptr;
        next_round();
        waiters.clear();
    }
    return puts("done") < 0;
}
