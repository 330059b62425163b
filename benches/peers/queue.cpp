// The queue, beside what one writes by hand: a vector under a mutex. Each measure begins with nothing queued and nothing
// allocated.
#include <lazyonce.h>
#include <malloc.h>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <vector>
#include "peer.hpp"

// As many bytes as the library keeps of a plain request: what to call, and two words to tell which it was.
struct request {
    lazy_fn fn;
    void *ctx, *caller;
    uint64_t ticket;
};

static std::mutex mutex;
static std::vector<request> vector;
static lazy_once once = LAZY_ONCE_INIT;
static unsigned long ran;

// Cannot be inlined into a loop: a queue does not know what it calls.
static int32_t count(void *) { return ++ran == 0; }
static int32_t (*volatile callback)(void *) = count;

// What is freed stays with the process, so that the rounds after the first few find their memory there: no page fault is measured.
static void keep_memory(uint64_t) {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

static void push(uint64_t times, unsigned) {
    const lazy_fn fn = callback;
    for (; times; times--) {
        const std::lock_guard<std::mutex> lock(mutex);
        vector.push_back({fn, &ran, nullptr, times});
    }
}
static void call_each(uint64_t, unsigned) {
    for (const request &each : vector)
        if (each.fn(each.ctx) != 0) abort();
}
static void forget_vector() { std::vector<request>().swap(vector); }

static void queue(uint64_t times, unsigned) {
    const lazy_fn fn = callback;
    for (; times; times--)
        if (lazy_once_call(&once, fn, &ran) != LAZY_QUEUED) abort();
}
static void drain(uint64_t, unsigned) {
    if (lazy_once_init(&once) != LAZY_OK) abort();
}
static void renew() {
    if (lazy_once_close(&once) != LAZY_OK) abort();
    once = LAZY_ONCE_INIT;
}

static void queue_first(uint64_t times) { queue(times, 0); }
static void push_first(uint64_t times) { push(times, 0); }
SHOWN const loop loops[] = {
    {"std::mutex and std::vector::push_back", push, keep_memory, forget_vector},
    {"lazy_once_call", queue, keep_memory, renew},
    {"calls from a std::vector", call_each, push_first, forget_vector},
    {"lazy_once_init", drain, queue_first, renew},
    {},
};
SHOWN const gate gates[] = {{}};
