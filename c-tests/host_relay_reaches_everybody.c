// Guards against a wake that stays with a waiter which must first take the host lock back, or leaves with one whose wait was
// given up or timed out: sixty-four of them sleep, in init, run, call and submit, while another thread holds the lock as the
// attempt ends; none, some or half are interrupted or limited just then. The others return what they are promised.
#include "big_lock.h"
#include "waiters.h"

enum { WAITERS = 64, KINDS = 4 };
enum disturbance { NONE, INTERRUPTED, LIMITED, BOTH, DISTURBANCES };
static big_lock lock;
static lazy_once once;
static waiter waiters[WAITERS];
static enum disturbance disturbance;
static atomic_int fails, attempts;
static atomic_long next_waiter;

static lazy_status waits_limited(lazy_once *gate) {
    return lazy_once_init_timeout(gate, 20000000u + (uint64_t)atomic_fetch_add(&next_waiter, 1) % 32 * 200000u);
}
static int32_t never_again(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&attempts, 1);
    return 0;
}
static lazy_status waits_in_run(lazy_once *gate) {
    return lazy_once_run(gate, never_again, NULL);
}
static lazy_status (*const kinds[KINDS])(lazy_once *) = { wait_in_init, waits_in_run, wait_in_call, wait_in_submit };
static bool is_limited(int i) {
    return (disturbance == LIMITED || disturbance == BOTH) && i % 4 == 2;
}
static bool is_interrupted(int i) {
    return (disturbance == INTERRUPTED && i % 2) || (disturbance == BOTH && i % 4 == 1);
}
static void *interrupts(void *ctx) {
    (void)ctx;
    for (int i = 0; i < WAITERS; i++)
        if (is_interrupted(i)) big_interrupt(&lock, atomic_load(&waiters[i].id), 1);
    return NULL;
}
static int32_t initialize(void *interrupter) {
    int depth = big_let_go(&lock);
    atomic_fetch_add(&attempts, 1);
    for (int i = 0; i < WAITERS; i++) waiter_start(&waiters[i], &once, is_limited(i) ? waits_limited : kinds[i % KINDS]);
    if (disturbance == NONE || disturbance == INTERRUPTED)
        for (int i = 0; i < WAITERS; i++) waiter_asleep(&waiters[i]);
    else
        while (COUNT(lock.runs) < WAITERS + 1) sched_yield();
    big_take_back(&lock, depth);
    *(pthread_t *)interrupter = start(interrupts, NULL);
    return atomic_load(&fails) ? 7 : 0;
}
static void check_waiter(int i, lazy_status status) {
    if (is_limited(i) && status == LAZY_E_TIMEOUT) return;
    if (is_interrupted(i) && status == LAZY_E_INTERRUPTED) return;
    bool calls = !is_limited(i) && i % KINDS >= 2;
    CHECK_IS(status, !atomic_load(&fails) ? LAZY_OK : calls ? LAZY_QUEUED : LAZY_E_INIT);
}

int main(void) {
    pthread_t interrupter;
    lazy_config config = LAZY_CONFIG_INIT;
    big_begin(&lock, 0, "lock");
    config.initialize = initialize;
    config.ctx = &interrupter;
    config.host = &lock.host;
    for (long round = rounds(40); round > 0; round--) {
        disturbance = (enum disturbance)(round % DISTURBANCES);
        atomic_store(&fails, round / DISTURBANCES % 2);
        once = (lazy_once)LAZY_ONCE_WITH(&config);
        big_reset(&lock);
        atomic_store(&attempts, 0);
        big_take(&lock);
        lazy_status status = lazy_once_init(&once);
        CHECK_IS(status, atomic_load(&fails) ? LAZY_E_INIT : LAZY_OK);
        CHECK_DEPTH(&lock, 1); /* while they are being woken */
        sched_yield();
        big_give(&lock);
        for (int i = 0; i < WAITERS; i++) check_waiter(i, waiter_join(&waiters[i]));
        join(interrupter);
        CHECK_IS(atomic_load(&attempts), 1);
        lazy_info info = LAZY_INFO_INIT;
        CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
        CHECK_IS(info.waiters, 0);
        CHECK_IS(COUNT(lock.parked), 0);
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    return finish();
}
