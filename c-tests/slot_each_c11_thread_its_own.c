// not-under: tsan: it does not know threads that thrd_create starts
// Guards against a thread that is known only if pthread_create started it: a hundred C11 threads each get a value of their own
// from one factory call, destroyed when the thread ends, by its return as by thrd_exit.
#include "slots.h"
#include <threads.h>

enum { THREADS = 100 };
static const lazy_slot_config config = ITEMS("own", LAZY_SLOT_THREAD);
static lazy_slot slot = LAZY_SLOT_INIT(&config);
static int inside;

static int has_its_own(void *number) {
    item *mine = get_new(&slot, 3);
    ADD(inside, 1);
    while (COUNT(inside) < THREADS) thrd_yield();
    CHECK(get_present(&slot, 3) == mine);
    if ((intptr_t)number % 2) thrd_exit(7);
    return 7;
}

int main(void) {
    thrd_t threads[THREADS];
    int result;
    for (intptr_t i = 0; i < THREADS; i++) CHECK_IS(thrd_create(&threads[i], has_its_own, (void *)i), thrd_success);
    for (int i = 0; i < THREADS; i++) {
        CHECK_IS(thrd_join(threads[i], &result), thrd_success);
        CHECK_IS(result, 7);
    }
    CHECK_IS(COUNT(made), THREADS);
    CHECK_BALANCE();
    for (int i = 0; i < THREADS; i++) CHECK_IS(items[i].destroyer, items[i].maker);
    return finish();
}
