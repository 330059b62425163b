// not-under: tsan valgrind asan: the tool's own work counts as the waiter's
// Guards against waiters that spin: during an initialization of one second each of eight may use 20 ms of processor time,
// and a gate that spins or polls uses all of it.
#include "check.h"
#include <stdatomic.h>
#include <time.h>

static gate started = GATE_INIT;
static atomic_int waiting_now;

static double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
static int32_t takes_a_second(void *ctx) {
    (void)ctx;
    gate_open(&started);
    while (atomic_load(&waiting_now) < 8) sched_yield();
    const struct timespec second = { 1, 0 }; /* the duration is what is measured; no order depends on it */
    nanosleep(&second, NULL);
    return 0;
}
static const lazy_config config = { sizeof(lazy_config), "slow", takes_a_second, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config);
static int32_t nothing(void *ctx) { (void)ctx; return 0; }

static void *initializing(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return NULL;
}
static void *waiting(void *number) {
    gate_wait(&started);
    double begin = cpu_ms();
    atomic_fetch_add(&waiting_now, 1);
    CHECK_IS((intptr_t)number % 2 ? lazy_once_init(&once) : lazy_once_call(&once, nothing, NULL), LAZY_OK);
    CHECK(cpu_ms() - begin < 20);
    return NULL;
}

int main(void) {
    pthread_t threads[9];
    threads[8] = start(initializing, NULL);
    for (intptr_t i = 0; i < 8; ++i) threads[i] = start(waiting, (void *)i);
    for (int i = 0; i < 9; ++i) join(threads[i]);
    return finish();
}
