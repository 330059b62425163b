// Guards against a lost wake, a lost request or a wrong lock state among eight threads that enter two onces of two hosts, one
// started inside the other, with the locks held, deep, or not, by every call, while hosts refuse, interrupt and give up,
// attempts fail and somebody resets. A request ran once if it was taken, and neither ran nor was dropped if it was not.
#include "big_lock.h"
#include "callers.h"

enum { THREADS = 8, MOST = 4000 };
static big_lock lock, other;
static lazy_once a, b;
static job jobs[THREADS][MOST];
static lazy_status results[THREADS][MOST]; /* of requests; LAZY_IN_PROGRESS: none */
static atomic_int left, in_a, in_b;
static long each;

static unsigned random_below(unsigned *state, unsigned limit) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % limit;
}
static __thread unsigned initializer_state;
static int32_t initialize_a(void *ctx) {
    (void)ctx;
    CHECK_IS(atomic_fetch_add(&in_a, 1), 0);
    CHECK(*big_depth(&lock) > 0);
    initializer_state += 0x9e3779b9u;
    unsigned state = initializer_state | 1;
    for (unsigned i = random_below(&state, 5); i > 0; i--) big_yield(&lock);
    CHECK_IS(atomic_fetch_add(&in_a, -1), 1);
    return random_below(&state, 4) == 0 && atomic_load(&left) > 0;
}
static int32_t initialize_b(void *ctx) {
    (void)ctx;
    CHECK_IS(atomic_fetch_add(&in_b, 1), 0);
    CHECK(*big_depth(&other) > 0);
    int depths[] = { *big_depth(&lock), *big_depth(&other) };
    big_yield(&other);
    lazy_status status = lazy_once_init(&a);
    CHECK_DEPTH(&lock, depths[0]);
    CHECK_DEPTH(&other, depths[1]);
    CHECK_IS(atomic_fetch_add(&in_b, -1), 1);
    return status < 0;
}
static bool is_expected(lazy_status status) {
    return status == LAZY_OK || status == LAZY_QUEUED || status == LAZY_E_INIT || status == LAZY_E_HOST
        || status == LAZY_E_INTERRUPTED || status == LAZY_E_TIMEOUT;
}
static void enter(int me, long round, unsigned *state) {
    bool of_b = random_below(state, 2);
    lazy_once *once = of_b ? &b : &a;
    big_lock *l = of_b ? &other : &lock; /* whoever holds both took `other` first */
    int depth = (int)random_below(state, 3);
    lazy_request request = request_for(&jobs[me][round]);
    lazy_status status, *result = &results[me][round];
    *result = LAZY_IN_PROGRESS;
    for (int i = 0; i < depth; i++) big_take(l);
    big_refuses_me = random_below(state, 16) == 0;
    switch (random_below(state, 9)) {
    case 0: status = lazy_once_init(once); break;
    case 1: status = LAZY_INIT(once); break;
    case 2: status = lazy_once_run(once, of_b ? initialize_b : initialize_a, NULL); break;
    case 3: status = lazy_once_init_timeout(once, random_below(state, 3) * 20000u); break;
    case 4: status = lazy_once_reset(once); break;
    default:
        request.flags = random_below(state, 2) ? LAZY_REQUEST_HOLD_HOST : 0;
        status = *result = lazy_once_submit(once, &request, NULL);
    }
    big_refuses_me = 0;
    if (!is_expected(status)) CHECK_IS(status, LAZY_OK);
    CHECK_DEPTH(l, depth);
    CHECK_DEPTH(of_b ? &lock : &other, 0);
    for (int i = 0; i < depth; i++) big_give(l);
}
static void *enters(void *number) {
    int me = (int)(intptr_t)number;
    unsigned state = 2463534242u + 7919u * (unsigned)me;
    initializer_state = state;
    for (long round = 0; round < each; round++) enter(me, round, &state);
    atomic_fetch_add(&left, -1);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned state = 88675123u;
    lazy_config config = LAZY_CONFIG_INIT;
    big_begin(&lock, 0, "first");
    big_begin(&other, 1, "second");
    config.initialize = initialize_a;
    config.host = &lock.host;
    CHECK_IS(lazy_once_configure(&a, &config), LAZY_OK);
    config.initialize = initialize_b;
    config.host = &other.host;
    config.on_failure = LAZY_FAIL_RETRY;
    CHECK_IS(lazy_once_configure(&b, &config), LAZY_OK);
    each = rounds(MOST);
    SET(lock.early, 1);
    SET(lock.late, 1);
    atomic_store(&left, THREADS);
    for (intptr_t i = 0; i < THREADS; i++) threads[i] = start(enters, (void *)i);
    while (atomic_load(&left) > 0) {
        big_interrupt(random_below(&state, 2) ? &lock : &other, 0, random_below(&state, 8) == 0);
        if (random_below(&state, 64) == 0) SET(lock.early, (int)random_below(&state, 2));
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    CHECK_IS(lazy_once_init(&b), LAZY_OK);
    CHECK_IS(lazy_once_init(&a), LAZY_OK);
    for (int i = 0; i < THREADS; i++)
        for (long round = 0; round < each; round++)
            if (results[i][round] != LAZY_IN_PROGRESS) {
                int taken = results[i][round] >= 0;
                CHECK_JOB(jobs[i][round], taken, taken);
            }
    CHECK_IS(lazy_once_close(&a), LAZY_OK);
    CHECK_IS(lazy_once_close(&b), LAZY_OK);
    return finish();
}
