// Guards against a retired slot that is still looked at, or mistaken for its successor: its memory is taken away while threads
// and captured states that knew it live on, and end; and the next slot at the same address starts without the old one's
// values, in threads that had some as in states that captured some.
#include "slots.h"
#include <sys/mman.h>

enum { THREADS = 4, TIMES = 6 };
static lazy_slot *slot;
static lazy_slot kept;
static lazy_thread_state *states[TIMES];
static pthread_barrier_t turn;

static void look(int time) {
    CHECK(!lazy_slot_has(slot, 0));
    item *mine = get_new(slot, 0);
    CHECK_IS(COUNT(mine->ctx) == NULL, time % 2 == 0);
    get_new(slot, (uint32_t)time + 1);
    get(&kept, 0);
}
static void *looks(void *ctx) {
    (void)ctx;
    for (int time = 0; time < TIMES; time++) {
        pthread_barrier_wait(&turn);
        if (time > 0) CHECK_IS(lazy_thread_state_enter(states[time - 1]), LAZY_OK);
        look(time);
        if (time > 0) CHECK_IS(lazy_thread_state_leave(states[time - 1]), LAZY_OK);
        pthread_barrier_wait(&turn);
    }
    pthread_barrier_wait(&turn); /* the slot's memory is gone */
    return NULL;
}

int main(void) {
    lazy_slot_config config = SHARED_ITEMS("address"), kept_config = ITEMS("kept", LAZY_SLOT_THREAD);
    pthread_t threads[THREADS];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    kept = (lazy_slot)LAZY_SLOT_INIT(&kept_config);
    slot = (lazy_slot *)mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(slot != MAP_FAILED);
    pthread_barrier_init(&turn, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) threads[i] = start(looks, NULL);
    for (int time = 0; time < TIMES; time++) {
        config.ctx = time % 2 ? &config : NULL;
        *slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        pthread_barrier_wait(&turn);
        look(time);
        pthread_barrier_wait(&turn);
        CHECK_IS(lazy_thread_state_capture(&states[time]), LAZY_OK);
        CHECK_IS(lazy_slot_retire(slot), LAZY_OK);
        memset((void *)slot, 0xa5, page);
    }
    CHECK_IS(munmap(slot, page), 0);
    pthread_barrier_wait(&turn);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    for (int time = 0; time < TIMES; time++) lazy_thread_state_free(states[time]);
    CHECK_IS(COUNT(copied), 2 * TIMES);
    CHECK_IS(lazy_slot_retire(&kept), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
