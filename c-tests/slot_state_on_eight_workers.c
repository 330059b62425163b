// Guards against a captured state that only one thread can use, or that copies or destroys what it holds more than once: a
// parent's values, captured once, are found by eight workers at once, also after the parent's own were destroyed; what is not
// shared each makes for itself; each copy is destroyed once, when the state is freed.
#include "slots.h"

enum { WORKERS = 8, INDICES = 6 };
static const lazy_slot_config shared_config = SHARED_ITEMS("shared"), own_config = ITEMS("own", LAZY_SLOT_THREAD);
static lazy_slot shared = LAZY_SLOT_INIT(&shared_config), own = LAZY_SLOT_INIT(&own_config);
static lazy_thread_state *state;
static item *parents[INDICES], *parents_own;
static pthread_barrier_t inside;

static void *works(void *ctx) {
    (void)ctx;
    CHECK(!lazy_slot_has(&shared, 0));
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    pthread_barrier_wait(&inside); /* all are */
    for (uint32_t i = 0; i < INDICES; i++) CHECK(get_present(&shared, i * i) == parents[i]);
    CHECK(get_new(&own, 0) != parents_own);
    pthread_barrier_wait(&inside);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    CHECK(!lazy_slot_has(&shared, 0));
    CHECK(get_new(&shared, 0) != parents[0]);
    return NULL;
}
static void *is_the_parent(void *ctx) {
    for (uint32_t i = 0; i < INDICES; i++) parents[i] = get_new(&shared, i * i);
    parents_own = get_new(&own, 0);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK(state != NULL);
    CHECK_IS(COUNT(copied), INDICES);
    return ctx;
}

int main(void) {
    pthread_t threads[WORKERS];
    pthread_barrier_init(&inside, NULL, WORKERS);
    join(start(is_the_parent, NULL));
    CHECK_IS(COUNT(destroyed), INDICES + 1); /* the parent's own references */
    for (int i = 0; i < WORKERS; i++) threads[i] = start(works, NULL);
    for (int i = 0; i < WORKERS; i++) join(threads[i]);
    CHECK_IS(COUNT(copied), INDICES);
    CHECK_IS(COUNT(destroyed), INDICES + 1 + 2 * WORKERS);
    for (int i = 0; i < INDICES; i++) CHECK_IS(COUNT(parents[i]->references), 1);
    lazy_thread_state_free(state);
    for (int i = 0; i < INDICES; i++) CHECK_IS(COUNT(parents[i]->destroyer), thread_id());
    CHECK_BALANCE();
    return finish();
}
