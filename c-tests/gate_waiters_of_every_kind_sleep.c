// not-under: tsan valgrind asan: the tool's own work counts as the waiter's
// Guards against a wait that spins or polls: during an initialization of one second nobody uses 20 ms of processor time,
// be it in init, with a limit or without, in run, call, submit, cancel, cancel_owner or reset, or under a configured
// limit.
#include "waiters.h"
#include <time.h>

static lazy_once once, to_be_reset;
static lazy_receipt running = LAZY_RECEIPT_INIT;
static int owner_tag;
static atomic_int about_to_wait;
static gate both_run = GATE_INIT;

static lazy_status limited(lazy_once *gate) {
    return lazy_once_init_timeout(gate, 60000000000);
}
static lazy_status cancel(lazy_once *gate) {
    return lazy_once_cancel(gate, running.ticket);
}
static lazy_status cancel_owner(lazy_once *gate) {
    return lazy_once_cancel_owner(gate, &owner_tag) == 0 ? LAZY_E_NOT_FOUND : LAZY_OK;
}
static const struct { lazy_status (*wait)(lazy_once *once); lazy_once *once; lazy_status wanted; } kinds[] = {
    { wait_in_init, &once, LAZY_OK },   { wait_in_run, &once, LAZY_OK },     { wait_in_call, &once, LAZY_OK },
    { wait_in_submit, &once, LAZY_OK }, { limited, &once, LAZY_OK },         { cancel, &once, LAZY_E_NOT_FOUND },
    { cancel_owner, &once, LAZY_E_NOT_FOUND },                               { wait_in_reset, &to_be_reset, LAZY_OK },
};
enum { KINDS = sizeof kinds / sizeof kinds[0], WAITERS = 2 * KINDS };

static double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
static int32_t takes_a_second(void *ctx) {
    (void)ctx;
    while (atomic_load(&about_to_wait) < WAITERS) sched_yield();
    const struct timespec second = { 1, 0 }; /* the duration is what is measured; no order depends on it */
    nanosleep(&second, NULL);
    return 0;
}
static int32_t both(void *ctx) {
    (void)ctx;
    gate_open(&both_run);
    return takes_a_second(NULL);
}
static int32_t start_the_other(void *ctx) {
    (void)ctx;
    return lazy_once_run(&to_be_reset, both, NULL) < 0; /* inside the request: both end after the same second */
}
static void *initializing(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return NULL;
}
static void *waiting(void *number) {
    intptr_t kind = (intptr_t)number % KINDS;
    gate_wait(&both_run);
    double begin = cpu_ms();
    atomic_fetch_add(&about_to_wait, 1);
    CHECK_IS(kinds[kind].wait(kinds[kind].once), kinds[kind].wanted);
    CHECK(cpu_ms() - begin < 20);
    return NULL;
}

int main(void) {
    static const lazy_config config = { .size = sizeof(lazy_config), .name = "slow", .timeout_ns = 120000000000 };
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = start_the_other;
    request.owner = &owner_tag;
    CHECK_IS(lazy_once_submit(&once, &request, &running), LAZY_QUEUED);
    pthread_t threads[WAITERS + 1];
    threads[WAITERS] = start(initializing, NULL);
    for (intptr_t i = 0; i < WAITERS; i++) threads[i] = start(waiting, (void *)i);
    for (int i = 0; i <= WAITERS; i++) join(threads[i]);
    return finish();
}
