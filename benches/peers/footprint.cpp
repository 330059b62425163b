// What the library takes of memory: bytes of the allocator, by what it says itself.
#include <lazyonce.h>
#include <malloc.h>
#include <pthread.h>
#include <cstdlib>
#include <mutex>
#include <vector>
#include "peer.hpp"

static size_t allocated() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
static int32_t do_nothing(void *) { return 0; }
static const lazy_config config = {
    sizeof(lazy_config), "configured", do_nothing, nullptr, nullptr, nullptr, nullptr, 0, 0, 0, 0, 0};

// Of each of a thousand onces that are ready.
SHOWN double bytes_of_once(bool configured) {
    static std::vector<lazy_once> onces[2];
    std::vector<lazy_once> &made = onces[configured];
    const lazy_once fresh = LAZY_ONCE_INIT, bound = LAZY_ONCE_WITH(&config);
    made.assign(1000, configured ? bound : fresh);
    // What the first use takes is of the process, and the allocator counts what it keeps for the next as given out.
    lazy_once first = configured ? bound : fresh;
    for (int times = 0; times < 10; times++) {
        lazy_once_init(&first);
        lazy_once_close(&first);
        first = configured ? bound : fresh;
    }
    const size_t before = allocated();
    for (lazy_once &once : made)
        if (lazy_once_init(&once) != LAZY_OK) abort();
    return double(allocated() - before) / 1000 + sizeof(lazy_once);
}

SHOWN double bytes_of_request(uint64_t requests) {
    lazy_once once = LAZY_ONCE_INIT;
    const size_t before = allocated();
    for (uint64_t i = 0; i < requests; i++)
        if (lazy_once_call(&once, do_nothing, nullptr) != LAZY_QUEUED) abort();
    const size_t after = allocated();
    lazy_once_init(&once);
    if (allocated() > before + 1000) abort();  // nothing of a million requests stays
    return double(after - before) / double(requests);
}

// Of a thread that has come by each way: initializing, waiting behind a lock of its own, and one value of a slot.
static pthread_barrier_t at_work, done;
static int32_t create(void *, uint32_t, void **value) {
    *value = &at_work;
    return 0;
}
static void *come(void *uses) {
    static lazy_slot_config slot_config = LAZY_SLOT_CONFIG_INIT;
    static lazy_slot slot = LAZY_SLOT_INIT(&slot_config);
    static std::once_flag flag;
    std::call_once(flag, [] { slot_config.create = create; });
    void *volatile own_pool = malloc(1);
    free(own_pool);
    pthread_barrier_wait(&at_work);  // every thread is there
    pthread_barrier_wait(&at_work);  // and has been counted
    lazy_once once = LAZY_ONCE_INIT;
    if (uses) {
        lazy_once_init(&once);
        void *value;
        if (uses == &done) lazy_slot_get(&slot, 0, &value);
    }
    pthread_barrier_wait(&done);  // has come
    pthread_barrier_wait(&done);  // and has been counted
    return nullptr;
}
SHOWN double bytes_of_thread(bool slot) {
    pthread_t threads[64];
    pthread_barrier_init(&at_work, nullptr, 65);
    pthread_barrier_init(&done, nullptr, 65);
    for (pthread_t &each : threads) pthread_create(&each, nullptr, come, slot ? &done : &at_work);
    pthread_barrier_wait(&at_work);
    const size_t before = allocated();
    pthread_barrier_wait(&at_work);
    pthread_barrier_wait(&done);
    const size_t after = allocated();
    pthread_barrier_wait(&done);
    for (pthread_t each : threads) pthread_join(each, nullptr);
    return double(after - before) / 64;
}
SHOWN const loop loops[] = {{}};
SHOWN const gate gates[] = {{}};
