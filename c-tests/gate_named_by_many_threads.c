// Guards against two onces for one name when many threads ask for the same hundred at once, each in another order: all
// get the same addresses, a hundred different ones, and each initializer runs once.
#include "callers.h"

enum { THREADS = 16, NAMES = 100 };
static lazy_once *found[THREADS][NAMES];
static atomic_int initialized[NAMES], used[NAMES];
static pthread_barrier_t barrier;

static void *asking(void *number) {
    int me = (int)(intptr_t)number;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < NAMES; i++) {
        static const int steps[] = { 1, 3, 7, 9, 11, 13, 17, 19 }; /* none shares a factor with 100 */
        int which = (i * steps[me % 8] + me * 6) % NAMES;
        char name[32];
        snprintf(name, sizeof name, "number %d of many", which);
        lazy_once *once = lazy_once_named(name);
        found[me][which] = once;
        lazy_status status = lazy_once_call(once, count, &used[which]);
        CHECK(status == LAZY_OK || status == LAZY_QUEUED);
        CHECK_IS(lazy_once_run(once, count, &initialized[which]), LAZY_OK);
        CHECK_IS(atomic_load(&initialized[which]), 1);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++) threads[i] = start(asking, (void *)i);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    for (int i = 0; i < NAMES; i++) {
        CHECK(found[0][i] != NULL);
        for (int thread = 1; thread < THREADS; thread++) CHECK(found[thread][i] == found[0][i]);
        for (int other = 0; other < i; other++) CHECK(found[0][other] != found[0][i]);
        CHECK_IS(atomic_load(&initialized[i]), 1);
        CHECK_IS(atomic_load(&used[i]), THREADS);
        char name[32];
        snprintf(name, sizeof name, "number %d of many", i);
        CHECK(!strcmp(info_of(found[0][i]).name, name));
    }
    return finish();
}
