// not-under: tsan asan: the allocator of the tool is not made usable again in a child of a process with threads
// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a lock that some moment leaves taken: sixteen threads initialize, queue, cancel, reset, name, close and lend
// permits, and three hundred times one of them forks. Each child finds every once answering, and initializes them all.
#include "callers.h"
#include "forked_child.h"

enum { THREADS = 16, SHARED = 6, FORKS = 300 };
static lazy_once onces[SHARED];
static const char *const names[2] = { "one", "two" };
static atomic_long forks;
static atomic_int ran;

static int32_t sometimes(void *ctx) {
    (void)ctx;
    return atomic_fetch_add(&ran, 1) % 5 == 4;
}
static void check_all_answer(void) {
    int null = open("/dev/null", O_WRONLY);
    for (int i = 0; i < SHARED + 2; i++) {
        lazy_once *once = i < SHARED ? &onces[i] : lazy_once_named(names[i - SHARED]);
        int tries = 0;
        CHECK(once != NULL);
        CHECK_IS(info_of(once).waiters, 0);
        CHECK_IS(info_of(once).owner_thread, 0);
        CHECK(!lazy_once_is_initializing(once));
        CHECK(lazy_once_call(once, nothing, NULL) >= 0);
        while (lazy_once_init(once) != LAZY_OK) CHECK(++tries < 1000);
        CHECK_IS(lazy_once_reset(once), LAZY_OK);
        CHECK_IS(lazy_once_call(once, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_run(once, nothing, NULL), LAZY_OK);
    }
    CHECK_IS(lazy_dump(null), LAZY_OK);
}
static void *borrows(void *permit) {
    if (lazy_permit_enter((lazy_permit *)permit) == LAZY_OK) lazy_permit_leave((lazy_permit *)permit);
    return NULL;
}
static int32_t lends(void *once) {
    lazy_permit permit;
    if (lazy_permit_capture((lazy_once *)once, &permit) == LAZY_OK) borrows(&permit);
    return 0;
}
static void use(lazy_once *once, unsigned kind) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_once brief = LAZY_ONCE_INIT;
    request.fn = sometimes;
    request.owner = &forks;
    request.key = kind % 3;
    request.flags = LAZY_REQUEST_NO_WAIT;
    switch (kind % 9) {
        case 0: lazy_once_init(once); break;
        case 1: lazy_once_submit(once, &request, &receipt); break;
        case 2: lazy_once_submit(once, &request, &receipt); lazy_once_cancel(once, receipt.ticket); break;
        case 3: lazy_once_cancel_owner(once, &forks); break;
        case 4: lazy_once_reset(once); break;
        case 5: lazy_once_run(once, lends, once); break;
        case 6: lazy_once_call(&brief, nothing, NULL); lazy_once_close(&brief); break;
        case 7: lazy_once_init_timeout(once, 1000); break;
        case 8: lazy_once_call(lazy_once_named(names[kind % 2]), nothing, NULL); break;
    }
}
static void *works(void *number) {
    unsigned random = (unsigned)(uintptr_t)number * 2654435761u + 1;
    while (atomic_load(&forks) > 0) {
        random = random * 1103515245u + 12345u;
        if ((random >> 16) % 64 == 0 && atomic_fetch_sub(&forks, 1) > 0) in_child(check_all_answer);
        use(&onces[(random >> 8) % SHARED], random >> 20);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    atomic_store(&forks, rounds(FORKS));
    for (int i = 0; i < THREADS; i++) threads[i] = start(works, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    check_all_answer();
    for (int i = 0; i < SHARED; i++) CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
    return finish();
}
