// What finding a value costs that is there. Each round times every peer once, in a random order. Prints one line for each: the
// peer and nanoseconds for a thousand look-ups. With a second argument it makes a thousand look-ups of that peer and prints
// nothing, to be counted by valgrind.
// Arguments: how many rounds, or 0; then the number of a peer.
#include <lazyonce.h>
#include <pthread.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

static const int LOOKUPS = 1000;

static int32_t create(void *ctx, uint32_t, void **value) {
    *value = ctx;
    return 0;
}

static int box;
static lazy_slot_config config_of(uint32_t scope) {
    lazy_slot_config config = LAZY_SLOT_CONFIG_INIT;
    config.ctx = &box;
    config.create = create;
    config.scope = scope;
    return config;
}
static const lazy_slot_config thread_config = config_of(LAZY_SLOT_THREAD), process_config = config_of(LAZY_SLOT_PROCESS);

static pthread_key_t key;
static thread_local std::unique_ptr<int> own;
static lazy_slot process = LAZY_SLOT_INIT(&process_config);
static std::vector<lazy_slot> slots(10000, LAZY_SLOT_INIT(&thread_config));
static size_t used;

static void *get(lazy_slot *slot, uint32_t index) {
    void *value;
    if (lazy_slot_get(slot, index, &value) != LAZY_OK) abort();
    return value;
}

struct peer {
    const char *name;
    size_t slots;
    void *(*find)(int);
};
static const peer peers[] = {
    {"pthread_getspecific", 1, [](int) { return pthread_getspecific(key); }},
    {"C++ thread_local", 1, [](int) -> void * { return own.get(); }},
    {"lazy_slot_get", 1, [](int) { return get(&slots[0], 0); }},
    {"lazy_slot_get, 8 indices", 1, [](int look) { return get(&slots[0], look % 8); }},
    {"lazy_slot_get, LAZY_SLOT_PROCESS", 1, [](int) { return get(&process, 0); }},
    {"lazy_slot_get, one of 100 slots", 100, [](int) { return get(&slots[57], 0); }},
    {"lazy_slot_get, one of 10,000 slots", 10000, [](int) { return get(&slots[5711], 0); }},
};
static const size_t PEERS = sizeof peers / sizeof *peers;

static void prepare(const peer &peer) {
    for (; used < peer.slots; used++) get(&slots[used], 0);
    for (int look = 0; look < 8; look++) peer.find(look);
}

extern "C" __attribute__((noinline)) void look_up(const peer &peer) {
    for (int look = 0; look < LOOKUPS; look++) {
        void *volatile found = peer.find(look);
        (void)found;
    }
}

int main(int, char **arguments) {
    int rounds = atoi(arguments[1]);
    pthread_key_create(&key, nullptr);
    pthread_setspecific(key, &box);
    own = std::make_unique<int>();
    if (rounds == 0) {
        const peer &peer = peers[atoi(arguments[2])];
        prepare(peer);
        look_up(peer);
        return 0;
    }
    std::vector<size_t> order(PEERS);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random;
    for (const peer &peer : peers) prepare(peer);
    while (rounds--) {
        std::shuffle(order.begin(), order.end(), random);
        for (size_t number : order) {
            auto began = std::chrono::steady_clock::now();
            look_up(peers[number]);
            std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began;
            printf("%s\t%lld\n", peers[number].name, static_cast<long long>(took.count()));
        }
    }
    puts("done");
}
