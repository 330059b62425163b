// Guards against what only many interleavings show: eight threads initialize, call, submit, cancel and reset four onces
// of different policies at random, and their callbacks do so too. Nothing hangs; what was taken is dropped once and
// succeeded once, unless it was withdrawn. In the first half callbacks touch only later onces: then no wait may be
// refused as a circle.
#include "check.h"
#include <stdatomic.h>

enum { THREADS = 8, ONCES = 4, DEEPEST = 3, MOST = 130000, ANYWHERE = -1 };
struct entry { atomic_int ran, dropped, fails_left, once; bool taken, cancelled, fails, owned; uint64_t ticket; };
static struct entry (*entries)[MOST];
static lazy_once onces[ONCES];
static char owners[THREADS];
static int used_up[THREADS];
static atomic_long withdrawn;
static atomic_int upwards, calm;
static pthread_barrier_t half;
static _Thread_local int me = -1, depth, used;
static _Thread_local uint64_t seed;

static unsigned draw(unsigned below) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)(seed >> 33) % below;
}
static lazy_status may_be_refused(lazy_status status) {
    if (atomic_load(&upwards)) CHECK(status != LAZY_E_DEADLOCK);
    return status;
}
static void act(int inside);

/* User code: now and then it lets others in, or uses other onces, or this one. */
static void wander(int once) {
    if (me >= 0 && draw(4) == 0) sched_yield();
    if (me < 0 || atomic_load(&calm) || depth >= DEEPEST || draw(4)) return;
    ++depth;
    act(once);
    --depth;
}
static int32_t initialize(void *once) {
    wander((int)(intptr_t)once);
    return me >= 0 && !atomic_load(&calm) && draw(4) == 0 ? 5 : 0;
}
static int32_t run(void *ctx) {
    struct entry *e = (struct entry *)ctx;
    wander(atomic_load(&e->once));
    if (atomic_load(&e->fails_left) > 0) return atomic_fetch_sub(&e->fails_left, 1);
    atomic_fetch_add(&e->ran, 1);
    return 0;
}
static void drop(void *ctx) {
    atomic_fetch_add(&((struct entry *)ctx)->dropped, 1);
}
static void submit(int once) {
    if (used == MOST) return;
    struct entry *e = &entries[me][used++];
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    atomic_store(&e->once, once);
    e->fails = draw(32) == 0;
    e->owned = !e->fails && draw(4) == 0;
    atomic_store(&e->fails_left, e->fails);
    request.fn = run;
    request.ctx = e;
    request.drop = drop;
    request.flags = draw(3) == 0 ? LAZY_REQUEST_NO_WAIT : 0;
    request.owner = e->owned ? &owners[me] : NULL;
    lazy_status status = may_be_refused(lazy_once_submit(&onces[once], &request, &receipt));
    if (status < 0 && status != LAZY_E_CALLBACK)
        CHECK(status == LAZY_E_DEADLOCK || (status == LAZY_E_NOT_NOW && request.flags));
    if (status == LAZY_E_CALLBACK) CHECK(e->fails);
    e->ticket = receipt.ticket;
    e->taken = status >= 0 || status == LAZY_E_CALLBACK;
    if (status == LAZY_OK || status == LAZY_E_CALLBACK) CHECK_IS(atomic_load(&e->dropped), 1);
}
static void cancel_one(int inside) {
    if (used == 0) return;
    int back = (int)draw(4) + 1;
    struct entry *e = &entries[me][used < back ? 0 : used - back];
    int once = atomic_load(&e->once);
    if (!e->taken || !e->ticket || e->cancelled || (inside != ANYWHERE && atomic_load(&upwards) && once <= inside)) return;
    lazy_status status = may_be_refused(lazy_once_cancel(&onces[once], e->ticket));
    if (status == LAZY_OK) e->cancelled = true;
    if (status == LAZY_OK || status == LAZY_E_NOT_FOUND) CHECK_IS(atomic_load(&e->dropped), 1);
    else CHECK(status == LAZY_IN_PROGRESS || status == LAZY_E_DEADLOCK);
}
static void act(int inside) {
    int least = inside != ANYWHERE && atomic_load(&upwards) ? inside + 1 : 0;
    if (least == ONCES) return;
    int which = least + (int)draw((unsigned)(ONCES - least));
    lazy_once *once = &onces[which];
    switch (draw(32)) {
    case 0:
        if (may_be_refused(lazy_once_init(once)) == LAZY_IN_PROGRESS) CHECK(inside != ANYWHERE);
        return;
    case 1:
        may_be_refused(lazy_once_run(once, initialize, (void *)(intptr_t)which));
        return;
    case 2:
        CHECK(lazy_once_init_timeout(once, draw(2) ? 0 : draw(100000)) != LAZY_E_DEADLOCK);
        return;
    case 3:
    case 4:
    case 5:
        if (inside == ANYWHERE) CHECK_IS(lazy_once_reset(once), LAZY_OK); /* who owns nothing closes no circle */
        return;
    case 6:
        if (inside == ANYWHERE) {
            size_t count = lazy_once_cancel_owner(once, &owners[me]);
            CHECK(count <= MOST);
            atomic_fetch_add(&withdrawn, (long)count);
        }
        return;
    case 7:
    case 8:
    case 9:
    case 10:
        cancel_one(inside);
        return;
    default:
        submit(which);
    }
}
static void *worker(void *number) {
    me = (int)(intptr_t)number;
    seed = 88172645463325252u + (uint64_t)me * 7919;
    for (int pass = 0; pass < 2; pass++) {
        for (long i = rounds(40000); i > 0; i--) act(ANYWHERE);
        pthread_barrier_wait(&half);
        if (me == 0) atomic_store(&upwards, 0);
        pthread_barrier_wait(&half);
    }
    used_up[me] = used;
    return NULL;
}

int main(void) {
    lazy_config configs[ONCES];
    pthread_t threads[THREADS];
    entries = (struct entry(*)[MOST])calloc(THREADS, sizeof *entries);
    CHECK(entries != NULL);
    for (int i = 0; i < ONCES; i++) {
        configs[i] = (lazy_config){ .size = sizeof(lazy_config), .name = "stressed", .initialize = initialize,
                                    .ctx = (void *)(intptr_t)i };
        onces[i] = (lazy_once)LAZY_ONCE_WITH(&configs[i]);
    }
    configs[1].on_failure = LAZY_FAIL_RETRY;
    configs[1].on_deferred_failure = LAZY_DEFERRED_DROP;
    configs[2].on_deferred_failure = LAZY_DEFERRED_CONTINUE;
    configs[3].contended = LAZY_CONTENDED_QUEUE;
    pthread_barrier_init(&half, NULL, THREADS);
    atomic_store(&upwards, 1);
    for (intptr_t i = 0; i < THREADS; i++) threads[i] = start(worker, (void *)i);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    atomic_store(&calm, 1);
    for (int i = 0; i < ONCES; i++) {
        lazy_info info = LAZY_INFO_INIT;
        while (lazy_once_init(&onces[i]) != LAZY_OK) CHECK_IS(lazy_last_error()->status, LAZY_E_DEFERRED);
        CHECK_IS(lazy_once_info(&onces[i], &info), LAZY_OK);
        CHECK_IS(info.queued + info.waiters, 0);
        CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
    }
    long missing = 0;
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < used_up[i]; j++) {
            struct entry *e = &entries[i][j];
            int ran = atomic_load(&e->ran);
            CHECK_IS(atomic_load(&e->dropped), e->taken);
            CHECK(ran == 0 || (ran == 1 && e->taken && !e->cancelled));
            if (!e->taken || e->cancelled || e->fails) continue;
            if (!e->owned) CHECK_IS(ran, 1);
            missing += !ran;
        }
    CHECK_IS(missing, atomic_load(&withdrawn));
    free(entries);
    return finish();
}
