// 64 threads sleep until one has initialized, then each works for 20 us and ends. How long after the end of its initializer
// is that one back from its call, and when does the last of the others run?
// GATE is lazyonce.h or a gate with the same names.
#include GATE
#include <time.h>
#include <algorithm>
#include <thread>
#include "demo.h"

enum { WAITERS = 64, ROUNDS = 21, MEDIAN = 10, TENTH = 2, NINETIETH = 18, WORK_US = 20 };

static lazy_once onces[ROUNDS]; // zero is a fresh once
static std::thread waiters[WAITERS];
static flag ids[WAITERS];
static double ended, ran[WAITERS];
static int busy_rounds;

static double microseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

// Does the kernel see anybody but this thread who could run? On a busy machine that decides who runs next, not the gate.
static bool is_busy() {
    int running = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    CHECK(file && fscanf(file, "%*f %*f %*f %d/", &running) == 1);
    fclose(file);
    return running > 1;
}

static int32_t never(void *) {
    CHECK(!"initialized a second time");
    return 1;
}

static void wait_and_work(lazy_once *once, int mine) {
    raise_to(&ids[mine], thread_id());
    CHECK(lazy_once_run(once, never, nullptr) == LAZY_OK);
    ran[mine] = microseconds();
    while (microseconds() < ran[mine] + WORK_US) {}
}

// Ends when all of them are asleep, by a second look at each after all have been seen so.
static int32_t start_device(void *once) {
    for (int i = 0; i < WAITERS; i++) {
        ids[i] = 0;
        waiters[i] = std::thread(wait_and_work, (lazy_once *)once, i);
    }
    for (int look = 0; look < 2; look++)
        for (flag &id : ids) {
            await(&id, 1);
            await_asleep(value_of(&id));
        }
    busy_rounds += is_busy();
    ended = microseconds();
    return 0;
}

int main() {
    double back[ROUNDS], last[ROUNDS];
    step("21 rounds");
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(lazy_once_run(&onces[round], start_device, &onces[round]) == LAZY_OK);
        back[round] = microseconds() - ended;
        for (std::thread &waiter : waiters) waiter.join();
        last[round] = *std::max_element(ran, ran + WAITERS) - ended;
    }
    std::sort(back, back + ROUNDS);
    std::sort(last, last + ROUNDS);
    show("back after %.0f us", back[MEDIAN]);
    show("  (10-90 %%: %.0f to %.0f)", back[TENTH], back[NINETIETH]);
    show("last waiter %.0f us", last[MEDIAN]);
    show("  (10-90 %%: %.0f to %.0f)", last[TENTH], last[NINETIETH]);
    if (busy_rounds < ROUNDS / 2)
        figure(back[MEDIAN]);
    else
        show("busy machine: not judged");
    return done();
}
