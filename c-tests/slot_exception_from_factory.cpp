// Guards against an exception from a factory, share or destructor that leaves something behind: it reaches the caller, in both
// scopes and with a host, whose lock is put back; no value is there, a waiter of that try hears of it, the next get makes it.
// A capture that share left destroys what it had copied; a retire that a destructor left can be finished.
#include "big_lock.h"
#include "slots.h"
#include <atomic>
#include <initializer_list>

struct refused { int code; };
static std::atomic<int> throws{0};
static big_lock lock;
static lazy_slot slot, others[2];
static gate inside, go_on;

static int32_t make_throwing(void *ctx, uint32_t index, void **value) {
    if (throws) {
        int depth = *big_depth(&lock) ? big_let_go(&lock) : 0; /* so that others come as far as to wait for this */
        gate_open(&inside);
        gate_wait(&go_on);
        if (depth) big_take_back(&lock, depth);
        *value = &lock; /* no value */
        throw refused{throws--};
    }
    return make(ctx, index, value);
}
static void *share_throwing(void *ctx, void *value) {
    if (throws) throw refused{throws--};
    return share(ctx, value);
}
static void destroy_throwing(void *ctx, uint32_t index, void *value) {
    destroy(ctx, index, value);
    if (throws && index == 1) throw refused{throws--};
}
static int thrown_by(lazy_status (*call)()) {
    try {
        CHECK_IS(call(), LAZY_OK);
    } catch (const refused &error) {
        return error.code;
    }
    return 0;
}
static lazy_status gets() {
    void *value;
    return lazy_slot_get(&slot, 0, &value);
}
static lazy_status retires() { return lazy_slot_retire(&slot); }
static lazy_thread_state *state;
static lazy_status captures() { return lazy_thread_state_capture(&state); }

static void *throws_once(void *) {
    CHECK_IS(thrown_by(gets), 1);
    CHECK_DEPTH(&lock, 0);
    return nullptr;
}
static std::atomic<int> waiter;
static void *waits(void *) {
    void *value = nullptr;
    waiter = thread_id();
    lazy_status status = lazy_slot_get(&slot, 0, &value);
    CHECK_IS(status, LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 0);
    CHECK_DEPTH(&lock, 0);
    return nullptr;
}
static void from_factory(uint32_t scope, const lazy_host *host) {
    lazy_slot_config config = { sizeof config, "throws", nullptr, make_throwing, destroy, nullptr, host, scope, 0 };
    slot = LAZY_SLOT_INIT(&config);
    inside = go_on = GATE_INIT;
    throws = 1;
    pthread_t first = start(throws_once, nullptr), second = first;
    gate_wait(&inside);
    if (scope == LAZY_SLOT_PROCESS) {
        waiter = 0;
        second = start(waits, nullptr);
        while (!waiter) sched_yield();
        until_asleep(waiter);
    }
    gate_open(&go_on);
    join(first);
    if (scope == LAZY_SLOT_PROCESS) join(second);
    throws = 2;
    CHECK_IS(thrown_by(gets), 2);
    CHECK_IS(thrown_by(gets), 1);
    CHECK(!lazy_slot_has(&slot, 0));
    get(&slot, 0);
    CHECK_DEPTH(&lock, 0);
    CHECK_IS(retires(), LAZY_OK);
    CHECK_BALANCE();
}

int main() {
    big_begin(&lock, 0, "lock");
    for (int i = 0; i < 4; i++) from_factory(i % 2 ? LAZY_SLOT_PROCESS : LAZY_SLOT_THREAD, i / 2 ? &lock.host : nullptr);

    lazy_slot_config good = SHARED_ITEMS("good"), bad = good;
    bad.share = share_throwing;
    others[0] = LAZY_SLOT_INIT(&good);
    others[1] = LAZY_SLOT_INIT(&good);
    slot = LAZY_SLOT_INIT(&bad);
    get(&others[0], 0);
    get(&slot, 0);
    get(&others[1], 0);
    throws = 1;
    CHECK_IS(thrown_by(captures), 1);
    CHECK_IS(COUNT(copied) + COUNT(made) - 3, COUNT(destroyed));
    CHECK_IS(thrown_by(captures), 0);
    lazy_thread_state_free(state);
    for (lazy_slot *s : { &others[0], &slot, &others[1] }) CHECK_IS(lazy_slot_retire(s), LAZY_OK);
    CHECK_BALANCE();

    lazy_slot_config left = ITEMS("left", 0);
    left.destroy = destroy_throwing;
    slot = LAZY_SLOT_INIT(&left);
    for (uint32_t i = 0; i < 4; i++) get(&slot, i);
    throws = 1;
    CHECK_IS(thrown_by(retires), 1);
    CHECK_IS(retires(), LAZY_OK);
    CHECK_BALANCE();
    check_get(&slot, 0, LAZY_E_CLOSED);
    return finish();
}
