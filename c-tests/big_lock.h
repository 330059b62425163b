/* A host for the programs about host locks: a mutex that knows whether this thread holds it and how deep, with both hooks.
   They count, put the lock back when they are left by an exception or by the end of the thread (C: -fexceptions), and can
   refuse, break their contract, and let other threads disturb a wait or ask for its end. For C11 and C++17. */
#ifndef BIG_LOCK_H
#define BIG_LOCK_H
#include "requests.h"

/* How a hook breaks its contract. */
typedef enum big_fault { KEEPS_IT, NEVER_CALLS, CALLS_TWICE, FAILS_AFTER } big_fault;
enum { BIG_LOCKS = 8, FAULT_CODE = 31 };

typedef struct big_wait {
    void (*interrupt)(void *arg);
    void *arg;
    int thread, given_up, depth;
    struct big_lock *lock;
    struct big_wait *next;
} big_wait;

typedef struct big_lock {
    lazy_host host; /* its ctx is this */
    int number;
    pthread_mutex_t mutex, list_mutex;
    big_wait *list;             /* the waits between the call of the hook and its return */
    int runs, waits, parked;    /* calls of the hooks, and threads that have let the lock go to park */
    int refuses;                /* run_attached returns it, if it is not 0 */
    int early, late;            /* how often the waiting thread itself interrupts, before and after park */
    big_fault run_fault, wait_fault;
    int ends_thread;            /* run_attached leaves the thread, with the lock taken */
    char letter;                /* noted in small as the lock is let go, in capitals as it is taken back */
} big_lock;

static __thread int big_depths[BIG_LOCKS]; /* of this thread */
static __thread int big_refuses_me;        /* like `refuses`, of every lock, for this thread */

static inline int *big_depth(big_lock *l) {
    return &big_depths[l->number];
}
static inline void big_take(big_lock *l) {
    if (++*big_depth(l) == 1) CHECK_IS(pthread_mutex_lock(&l->mutex), 0);
}
static inline void big_give(big_lock *l) {
    CHECK(*big_depth(l) > 0);
    if (--*big_depth(l) == 0) CHECK_IS(pthread_mutex_unlock(&l->mutex), 0);
}
static inline int big_let_go(big_lock *l) {
    int depth = *big_depth(l);
    CHECK(depth > 0);
    *big_depth(l) = 0;
    CHECK_IS(pthread_mutex_unlock(&l->mutex), 0);
    return depth;
}
static inline void big_take_back(big_lock *l, int depth) {
    CHECK_IS(*big_depth(l), 0);
    CHECK_IS(pthread_mutex_lock(&l->mutex), 0);
    *big_depth(l) = depth;
}
/* What an initializer does that imports something. */
static inline void big_yield(big_lock *l) {
    int depth = big_let_go(l);
    sched_yield();
    big_take_back(l, depth);
}

static inline void big_leave(big_lock **l) {
    big_give(*l);
}
static inline int32_t big_run(void *ctx, void (*body)(void *arg), void *arg) {
    big_lock *l = (big_lock *)ctx;
    ADD(l->runs, 1);
    if (big_refuses_me) return big_refuses_me;
    if (COUNT(l->refuses)) return COUNT(l->refuses);
    if (COUNT(l->run_fault) == NEVER_CALLS) return 0;
    big_take(l);
    __attribute__((cleanup(big_leave))) big_lock *taken = l;
    (void)taken;
    if (COUNT(l->ends_thread)) pthread_exit(NULL);
    body(arg);
    if (COUNT(l->run_fault) == CALLS_TWICE) body(arg);
    return COUNT(l->run_fault) == FAILS_AFTER ? FAULT_CODE : 0;
}

static inline void big_end_wait(big_wait **which) {
    big_wait *wait = *which, **at;
    big_lock *l = wait->lock;
    big_take_back(l, wait->depth);
    if (l->letter) note((char)(l->letter - 'a' + 'A'));
    pthread_mutex_lock(&l->list_mutex);
    for (at = &l->list; *at != wait; at = &(*at)->next) {}
    *at = wait->next;
    pthread_mutex_unlock(&l->list_mutex);
}
static inline void big_park(big_lock *l, big_wait *wait, void (*park)(void *arg)) {
    pthread_mutex_lock(&l->list_mutex);
    wait->next = l->list;
    l->list = wait;
    pthread_mutex_unlock(&l->list_mutex);
    for (int i = COUNT(l->early); i > 0; i--) wait->interrupt(wait->arg);
    if (l->letter) note(l->letter);
    wait->depth = big_let_go(l);
    __attribute__((cleanup(big_end_wait))) big_wait *parking = wait;
    (void)parking;
    ADD(l->parked, 1);
    if (COUNT(l->wait_fault) != NEVER_CALLS) park(wait->arg);
    if (COUNT(l->wait_fault) == CALLS_TWICE) park(wait->arg);
    ADD(l->parked, -1);
    for (int i = COUNT(l->late); i > 0; i--) wait->interrupt(wait->arg);
}
static inline int32_t big_wait_detached(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    big_lock *l = (big_lock *)ctx;
    big_wait wait;
    memset(&wait, 0, sizeof wait);
    wait.interrupt = interrupt;
    wait.arg = arg;
    wait.thread = thread_id();
    wait.lock = l;
    ADD(l->waits, 1);
    big_park(l, &wait, park);
    return COUNT(wait.given_up);
}
/* Interrupts that thread's wait, or everybody's if it is 0, and has it given up if `code` is not 0. How many there were. */
static inline int big_interrupt(big_lock *l, int thread, int code) {
    int found = 0;
    pthread_mutex_lock(&l->list_mutex);
    for (big_wait *wait = l->list; wait; wait = wait->next) {
        if (thread && wait->thread != thread) continue;
        if (code) SET(wait->given_up, code);
        wait->interrupt(wait->arg);
        found++;
    }
    pthread_mutex_unlock(&l->list_mutex);
    return found;
}

/* Ready for use; the numbers of locks used together differ. */
static inline void big_begin(big_lock *l, int number, const char *name) {
    pthread_mutexattr_t checked;
    memset(l, 0, sizeof *l);
    l->number = number;
    CHECK_IS(*big_depth(l), 0);
    CHECK_IS(pthread_mutexattr_init(&checked), 0);
    CHECK_IS(pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK), 0);
    CHECK_IS(pthread_mutex_init(&l->mutex, &checked), 0);
    CHECK_IS(pthread_mutex_init(&l->list_mutex, NULL), 0);
    l->host.size = sizeof l->host;
    l->host.name = name;
    l->host.ctx = l;
    l->host.run_attached = big_run;
    l->host.wait_detached = big_wait_detached;
}
/* Forgets what was counted and asked for; the lock stays as it is. */
static inline void big_reset(big_lock *l) {
    SET(l->runs, 0);
    SET(l->waits, 0);
    SET(l->refuses, 0);
    SET(l->early, 0);
    SET(l->late, 0);
    SET(l->run_fault, KEEPS_IT);
    SET(l->wait_fault, KEEPS_IT);
    SET(l->ends_thread, 0);
}
/* A thread is on its way to sleep without the lock, or sleeps so. */
static inline void big_until_parked(big_lock *l, int threads) {
    while (COUNT(l->parked) < threads) sched_yield();
}
#define CHECK_DEPTH(l, depth) CHECK_IS(*big_depth(l), depth)
#define CHECK_HOOKS(l, wanted_runs, wanted_waits) \
    (CHECK_IS(COUNT((l)->runs), wanted_runs), CHECK_IS(COUNT((l)->waits), wanted_waits))
#endif
