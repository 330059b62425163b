// The host lock is a mutex that a thread may take more than once, where no CPython was found.
#pragma once

#include <mutex>
#include "demo.h"

static std::mutex mutex;
static thread_local int depth;

struct holding {
    holding() { if (depth++ == 0) mutex.lock(); }
    ~holding() { if (--depth == 0) mutex.unlock(); }
};
struct letting_go {
    const int before = depth;
    letting_go() { depth = 0; mutex.unlock(); }
    ~letting_go() { mutex.lock(); depth = before; }
};
static bool is_held() { return depth == 1; }

static int32_t run_attached(void *, void (*body)(void *), void *arg) {
    const holding lock;
    body(arg);
    return 0;
}
static int32_t wait_detached(void *, void (*park)(void *), void (*)(void *), void *arg) {
    const letting_go no_lock;
    park(arg);
    return 0;
}
static const lazy_host *host_lock() {
    static const lazy_host host = {sizeof(lazy_host), "mutex", nullptr, run_attached, wait_detached};
    return &host;
}

// Stands for an import: lets the lock go, and takes it back when the other thread has got it.
static void import_until(flag *taken) {
    const letting_go no_lock;
    await(taken, 1);
}

static void ask_rarely() {} // it is asked for once

static void show_host() { show("lock: a mutex (no GIL found)"); }
