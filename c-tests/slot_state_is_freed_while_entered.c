// Guards against a state that is destroyed under its users, or never: freed while two threads are inside, its copies live
// until the last has left; by leave, or by the end of a thread that never left, nested or not, which leaves for it.
#include "slots.h"

enum { LEAVES, RETURNS, NESTS, ENDS, WAYS };
static const lazy_slot_config config = SHARED_ITEMS("lent");
static lazy_slot slot = LAZY_SLOT_INIT(&config);
static lazy_thread_state *state;
static item *mine;
static pthread_barrier_t entered, freed;

static void *stays(void *how) {
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    if (how == (void *)NESTS) CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    pthread_barrier_wait(&entered);
    pthread_barrier_wait(&freed);
    CHECK(get_present(&slot, 0) == mine);
    CHECK_IS(COUNT(mine->references), 2);
    pthread_barrier_wait(&freed);
    if (how == (void *)LEAVES) {
        CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
        CHECK(!lazy_slot_has(&slot, 0));
    }
    if (how == (void *)ENDS) pthread_exit(NULL);
    return NULL;
}

int main(void) {
    mine = get_new(&slot, 0);
    for (int ways = 0; ways < WAYS * WAYS; ways++) {
        pthread_t threads[2];
        CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
        CHECK_IS(COUNT(mine->references), 2);
        pthread_barrier_init(&entered, NULL, 3);
        pthread_barrier_init(&freed, NULL, 3);
        threads[0] = start(stays, (void *)(intptr_t)(ways % WAYS));
        threads[1] = start(stays, (void *)(intptr_t)(ways / WAYS));
        pthread_barrier_wait(&entered);
        lazy_thread_state_free(state);
        pthread_barrier_wait(&freed);
        pthread_barrier_wait(&freed);
        for (int i = 0; i < 2; i++) join(threads[i]);
        CHECK_IS(COUNT(mine->references), 1);
        CHECK(COUNT(mine->destroyer) != thread_id()); /* it was somebody who left */
        pthread_barrier_destroy(&entered);
        pthread_barrier_destroy(&freed);
    }
    CHECK_IS(COUNT(copied), WAYS * WAYS);
    return finish();
}
