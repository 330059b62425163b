// Guards against a value that two threads share, that is made twice, or that is not destroyed exactly once when its thread
// ends and by that thread: a hundred threads, all there at once, with values of two slots at several indices.
#include "slots.h"

enum { THREADS = 100, INDICES = 5 };
static const uint32_t indices[INDICES] = { 0, 7, 1, 4096, UINT32_MAX };
static const lazy_slot_config configs[2] = { ITEMS("one", LAZY_SLOT_THREAD), ITEMS("two", LAZY_SLOT_THREAD) };
static lazy_slot slots[2] = { LAZY_SLOT_INIT(&configs[0]), LAZY_SLOT_INIT(&configs[1]) };
static pthread_barrier_t together;

static void *has_its_own(void *ctx) {
    item *mine[2][INDICES];
    (void)ctx;
    pthread_barrier_wait(&together);
    for (int i = 0; i < INDICES; i++)
        for (int s = 0; s < 2; s++) mine[s][i] = get_new(&slots[s], indices[i]);
    pthread_barrier_wait(&together); /* all are there */
    for (int i = 0; i < INDICES; i++)
        for (int s = 0; s < 2; s++) {
            CHECK(get_present(&slots[s], indices[i]) == mine[s][i]);
            CHECK_IS(COUNT(mine[s][i]->references), 1);
        }
    CHECK(!lazy_slot_has(&slots[0], 2));
    pthread_barrier_wait(&together); /* nobody has ended */
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) threads[i] = start(has_its_own, NULL);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    CHECK_IS(COUNT(made), 2 * INDICES * THREADS);
    CHECK_BALANCE();
    for (int i = 0; i < COUNT(made); i++) CHECK_IS(items[i].destroyer, items[i].maker);
    CHECK(!lazy_slot_has(&slots[0], 0));
    get_new(&slots[0], 0);
    return finish();
}
