// Guards against a value that is made under one configuration and destroyed under another: two threads configure a slot, each
// in its way, while two others use it for the first time. Whoever comes too late hears it; each value keeps its `ctx`, and all
// values of a slot are of one kind.
#include "slots.h"

enum { SLOTS = 6000, VALUES = 3 };
static lazy_slot slots[SLOTS];
static lazy_slot_config configs[2];
static void *kinds[SLOTS];
static pthread_barrier_t together;

static int32_t make_own(void *ctx, uint32_t index, void **value) {
    (void)index;
    *value = ctx;
    return 0;
}
static void destroy_own(void *ctx, uint32_t index, void *value) {
    (void)index;
    CHECK(value == ctx);
}
static void *configures(void *config) {
    for (long i = 0; i < rounds(SLOTS); i++) {
        pthread_barrier_wait(&together);
        for (int times = 0; times < 4; times++) {
            lazy_status status = lazy_slot_configure(&slots[i], (const lazy_slot_config *)config);
            CHECK(status == LAZY_OK || status == LAZY_E_TOO_LATE);
        }
    }
    return NULL;
}
static void *gets(void *ctx) {
    for (long i = 0; i < rounds(SLOTS); i++) {
        pthread_barrier_wait(&together);
        for (uint32_t index = 0; index < VALUES; index++) {
            void *value = NULL, *none = NULL;
            lazy_status status = lazy_slot_get(&slots[i], index, &value);
            CHECK(status == LAZY_OK || status == LAZY_E_NOT_FOUND); /* not configured yet */
            if (status != LAZY_OK) continue;
            if (!__atomic_compare_exchange_n(&kinds[i], &none, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
                CHECK(none == value);
        }
    }
    return ctx;
}

int main(void) {
    for (uint32_t scope = 0; scope < 2; scope++) {
        pthread_t threads[4];
        pthread_barrier_init(&together, NULL, 4);
        for (int i = 0; i < 2; i++)
            configs[i] = (lazy_slot_config){ sizeof(lazy_slot_config), i ? "one" : "other", &configs[i], make_own, destroy_own,
                                             NULL, NULL, scope, LAZY_FORK_KEEP };
        for (int i = 0; i < SLOTS; i++) {
            slots[i] = (lazy_slot)LAZY_SLOT_INIT(NULL);
            kinds[i] = NULL;
        }
        for (int i = 0; i < 4; i++) threads[i] = start(i < 2 ? configures : gets, &configs[i % 2]);
        for (int i = 0; i < 4; i++) join(threads[i]);
        for (int i = 0; i < SLOTS; i++) CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
        pthread_barrier_destroy(&together);
    }
    return finish();
}
