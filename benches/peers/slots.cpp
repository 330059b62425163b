// Finding a value that is there.
#include <lazyonce.h>
#include <pthread.h>
#include <cstdlib>
#include <memory>
#include <vector>
#include "peer.hpp"

static int box;
static int32_t create(void *, uint32_t, void **value) {
    *value = &box;
    return 0;
}
static lazy_slot_config config_of(uint32_t scope) {
    lazy_slot_config config = LAZY_SLOT_CONFIG_INIT;
    config.create = create;
    config.scope = scope;
    return config;
}
static const lazy_slot_config thread_config = config_of(LAZY_SLOT_THREAD), process_config = config_of(LAZY_SLOT_PROCESS);

static pthread_key_t key;
static thread_local std::unique_ptr<int> own;
static lazy_slot process = LAZY_SLOT_INIT(&process_config);
static std::vector<lazy_slot> slots(10000, LAZY_SLOT_INIT(&thread_config));

static void *get(lazy_slot *slot, uint32_t index) {
    void *value;
    if (lazy_slot_get(slot, index, &value) != LAZY_OK) abort();
    return value;
}

// So many slots have a value, which stay: their number only grows.
template <size_t used> static void use(uint64_t) {
    for (size_t slot = 0; slot < used; slot++) get(&slots[slot], 0);
}
static void use_indices(uint64_t) {
    for (uint32_t index = 0; index < 8; index++) get(&slots[0], index);
}
static void use_process(uint64_t) { get(&process, 0); }
static void use_own(uint64_t) {
    if (!key) pthread_key_create(&key, nullptr);
    pthread_setspecific(key, &box);
    if (!own) own = std::make_unique<int>();
}

template <void *(*find)(uint64_t)> static void look_up(uint64_t times, unsigned) {
    for (; times; times--) {
        void *volatile found = find(times);
        (void)found;
    }
}
template <size_t slot> static void *find(uint64_t) { return get(&slots[slot], 0); }
static void *find_index(uint64_t turn) { return get(&slots[0], turn % 8); }
static void *find_process(uint64_t) { return get(&process, 0); }
static void *find_specific(uint64_t) { return pthread_getspecific(key); }
static void *find_own(uint64_t) { return own.get(); }

SHOWN const loop loops[] = {
    {"pthread_getspecific", look_up<find_specific>, use_own, nullptr},
    {"C++ thread_local", look_up<find_own>, use_own, nullptr},
    {"lazy_slot_get, 1 slot", look_up<find<0>>, use<1>, nullptr},
    {"lazy_slot_get, 8 indices of a slot", look_up<find_index>, use_indices, nullptr},
    {"lazy_slot_get, LAZY_SLOT_PROCESS", look_up<find_process>, use_process, nullptr},
    {"lazy_slot_get, one of 100 slots", look_up<find<57>>, use<100>, nullptr},
    {"lazy_slot_get, one of 10,000 slots", look_up<find<5711>>, use<10000>, nullptr},
    {},
};
SHOWN const gate gates[] = {{}};
