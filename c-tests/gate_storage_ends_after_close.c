// Guards against a library that comes back to a closed once: as soon as every call on it has returned its page goes
// away, while a dump and other onces walk over whatever the library remembers; then the same address is a new
// once. Meanwhile close races an attempt, a call and two submits, and each request is accounted for: run and dropped
// once, or neither.
#include "callers.h"
#include <sys/mman.h>

typedef struct job { atomic_int ran, dropped; } job;
static lazy_once *once;
static job jobs[2];
static pthread_barrier_t barrier;
static atomic_int stop, generation;

static int32_t initialize(void *ctx) {
    CHECK_IS((intptr_t)ctx, atomic_load(&generation)); /* not the configuration of the once that was here before */
    return 0;
}
static int32_t work(void *j) {
    atomic_fetch_add(&((job *)j)->ran, 1);
    return 0;
}
static void drop(void *j) { atomic_fetch_add(&((job *)j)->dropped, 1); }

static lazy_status submit(job *j) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = work;
    request.ctx = j;
    request.drop = drop;
    return lazy_once_submit(once, &request, NULL);
}
static void *user(void *number) {
    job *mine = &jobs[(intptr_t)number];
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (atomic_load(&stop)) return NULL;
        lazy_status taken = submit(mine), status = number ? lazy_once_init(once) : lazy_once_call(once, nothing, NULL);
        pthread_barrier_wait(&barrier); /* closed here at the latest, and no call is left inside */
        CHECK(taken == LAZY_OK || taken == LAZY_QUEUED || taken == LAZY_E_CLOSED);
        CHECK(status == LAZY_OK || status == (number ? LAZY_E_CLOSED : LAZY_QUEUED) || status == LAZY_E_CLOSED);
        CHECK_IS(atomic_load(&mine->dropped), taken != LAZY_E_CLOSED);
        CHECK(atomic_load(&mine->ran) <= atomic_load(&mine->dropped));
        if (taken == LAZY_OK) CHECK_IS(atomic_load(&mine->ran), 1);
        pthread_barrier_wait(&barrier);
    }
}

int main(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    once = (lazy_once *)mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(once != MAP_FAILED);
    int null = open("/dev/null", O_WRONLY);
    pthread_t users[2];
    pthread_barrier_init(&barrier, NULL, 3);
    for (intptr_t i = 0; i < 2; i++) users[i] = start(user, (void *)i);
    for (long left = rounds(5000); left > 0; left--) {
        lazy_config config = LAZY_CONFIG_INIT;
        config.name = "short-lived";
        config.initialize = initialize;
        config.ctx = (void *)(intptr_t)(atomic_fetch_add(&generation, 1) + 1);
        CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
        CHECK_IS(info_of(once).attempts, 0);
        memset(jobs, 0, sizeof jobs);
        pthread_barrier_wait(&barrier);
        for (volatile long steps = left % 64 * 32; steps > 0; steps--) {}
        CHECK_IS(lazy_once_close(once), LAZY_OK);
        pthread_barrier_wait(&barrier);
        memset(once, 0xcd, sizeof *once);
        CHECK_IS(mprotect(once, page, PROT_NONE), 0);
        lazy_once other = LAZY_ONCE_INIT;
        CHECK_IS(lazy_once_call(&other, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&other), LAZY_OK);
        if (left % 50 == 0) CHECK_IS(lazy_dump(null), LAZY_OK);
        CHECK_IS(mprotect(once, page, PROT_READ | PROT_WRITE), 0);
        memset(once, 0, sizeof *once);
        pthread_barrier_wait(&barrier);
    }
    atomic_store(&stop, 1);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++) join(users[i]);
    close(null);
    return finish();
}
