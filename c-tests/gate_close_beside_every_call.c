// Guards against a close that frees what a call on another thread still reads: while seven threads use the once, each with
// calls of one kind, one of them closes it; everybody is told LAZY_E_CLOSED, nobody sleeps on, and when the last call has
// returned the storage is overwritten and given back.
#include "callers.h"

enum { KINDS = 7 };
static lazy_once *once;
static pthread_barrier_t barrier;
static atomic_int stop, taken, ran, dropped;
static long round_number;

static bool closed(lazy_status status) {
    CHECK(status >= 0 || status == LAZY_E_CLOSED || status == LAZY_E_TIMEOUT || status == LAZY_E_INIT);
    return status == LAZY_E_CLOSED;
}
static int32_t fails_sometimes(void *ctx) {
    static atomic_int attempts;
    (void)ctx;
    sched_yield();
    return atomic_fetch_add(&attempts, 1) % 3 == 0;
}
static bool submits(void) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = count;
    request.ctx = &ran;
    lazy_status status = lazy_once_submit(once, &request, &receipt);
    if (status >= 0) atomic_fetch_add(&taken, 1);
    return closed(status);
}
static bool submits_and_cancels(void) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = nothing;
    request.ctx = &dropped;
    request.drop = count_drop;
    request.owner = &dropped;
    lazy_status status = lazy_once_submit(once, &request, &receipt);
    if (status == LAZY_QUEUED) {
        status = lazy_once_cancel(once, receipt.ticket);
        CHECK(status == LAZY_OK || status == LAZY_E_NOT_FOUND);
        lazy_once_cancel_owner(once, &dropped);
        return false;
    }
    return closed(status);
}
static bool configures(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "in use";
    config.initialize = fails_sometimes;
    lazy_status status = lazy_once_configure(once, &config);
    CHECK(status == LAZY_OK || status == LAZY_E_TOO_LATE || status == LAZY_E_CLOSED);
    lazy_once_configure(once, NULL);
    return info_of(once).phase == LAZY_CLOSED;
}
static bool looks(void) {
    lazy_info info = info_of(once); /* but its name is good only as long as nobody configures or closes */
    CHECK(info.phase <= LAZY_CLOSED);
    (void)lazy_once_is_initializing(once);
    return info.phase == LAZY_CLOSED;
}
static bool uses(int kind) {
    switch (kind) {
    case 0: return closed(lazy_once_init(once));
    case 1: return closed(lazy_once_run(once, fails_sometimes, NULL));
    case 2: return closed(lazy_once_reset(once));
    case 3: return submits();
    case 4: return submits_and_cancels();
    case 5: return configures();
    default: return looks();
    }
}
static void *using(void *number) {
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (atomic_load(&stop)) return NULL;
        for (int calls = 0; !uses((int)(intptr_t)number);)
            if ((intptr_t)number == round_number % KINDS && ++calls == 3) CHECK_IS(lazy_once_close(once), LAZY_OK);
        pthread_barrier_wait(&barrier);
    }
}

int main(void) {
    pthread_t users[KINDS];
    pthread_barrier_init(&barrier, NULL, KINDS + 1);
    for (intptr_t i = 0; i < KINDS; i++) users[i] = start(using, (void *)i);
    for (round_number = rounds(30000) / 100; round_number > 0; round_number--) {
        once = (lazy_once *)calloc(1, sizeof *once);
        CHECK(once != NULL);
        atomic_store(&taken, 0);
        atomic_store(&ran, 0);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        CHECK(atomic_load(&ran) <= atomic_load(&taken));
        memset(once, 0xcd, sizeof *once);
        free(once);
    }
    atomic_store(&stop, 1);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < KINDS; i++) join(users[i]);
    return finish();
}
