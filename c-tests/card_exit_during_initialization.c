// Guards against a process that cannot end: exit() while another thread initializes and a third one waits, and exit()
// called by the initializer itself, with a handler that asks the gate, must both end the process.
#include "forked_child.h"

static gate started = GATE_INIT, never = GATE_INIT;
static int waiter;

static int32_t blocks(void *ctx) {
    (void)ctx;
    gate_open(&started);
    gate_wait(&never);
    return 0;
}
static int32_t exits(void *ctx) {
    (void)ctx;
    exit(0);
}
static const lazy_config configs[2] = {
    { sizeof(lazy_config), "blocks", blocks, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
    { sizeof(lazy_config), "exits", exits, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
};
static lazy_once blocked = LAZY_ONCE_WITH(&configs[0]), exiting = LAZY_ONCE_WITH(&configs[1]);

static void *initializing(void *ctx) {
    (void)ctx;
    lazy_once_init(&blocked);
    return NULL;
}
static void *waiting(void *ctx) {
    (void)ctx;
    gate_wait(&started);
    __atomic_store_n(&waiter, thread_id(), __ATOMIC_RELEASE);
    lazy_once_init(&blocked);
    return NULL;
}
static void exits_beside_an_initialization(void) {
    start(initializing, NULL);
    start(waiting, NULL);
    while (!__atomic_load_n(&waiter, __ATOMIC_ACQUIRE)) sched_yield();
    until_asleep(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE));
    exit(0);
}
static void ask_the_gate(void) {
    CHECK(!lazy_once_is_initialized(&exiting));
    CHECK_IS(lazy_once_init(&exiting), LAZY_IN_PROGRESS);
}
static void exits_inside_an_initialization(void) {
    atexit(ask_the_gate);
    lazy_once_init(&exiting);
    _exit(1);
}

int main(void) {
    in_child(exits_beside_an_initialization);
    in_child(exits_inside_an_initialization);
    return finish();
}
