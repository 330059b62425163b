// Guards against a prepare that takes turns: eight threads are inside it at the same time, which a lock around it would
// turn into a hang; one of them initializes, the others wait for it or find it done, and none prepares twice.
#include "callers.h"

enum { THREADS = 8 };
static pthread_barrier_t all_inside;
static atomic_int prepared, initialized, ran;
static _Thread_local int prepared_here;

static int32_t prepare(void *ctx) {
    (void)ctx;
    CHECK_IS(++prepared_here, 1);
    pthread_barrier_wait(&all_inside);
    return count(&prepared);
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    return count(&initialized);
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "prepared", .prepare = prepare,
                                    .initialize = initialize };
static lazy_once once = LAZY_ONCE_WITH(&config);

int main(void) {
    caller callers[THREADS];
    pthread_barrier_init(&all_inside, NULL, THREADS);
    CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
    for (int i = 0; i < THREADS; i++) begin(&callers[i], in_init, &once);
    for (int i = 0; i < THREADS; i++) CHECK_IS(ended(&callers[i]), LAZY_OK);
    CHECK_IS(atomic_load(&prepared), THREADS);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&ran), 1);
    CHECK_IS(info_of(&once).attempts, 1);
    return finish();
}
