// Guards against a value that is moved, copied or destroyed in use: values that own a mutex keep their address while tables
// grow around them, are locked by eight threads in the process scope and by their own thread in the other, and are destroyed
// unlocked, once.
#include "slots.h"

enum { THREADS = 8, VALUES = 64 };
typedef struct guarded { struct guarded *self; pthread_mutex_t mutex; long counter; int ready, dead; } guarded;
static guarded pool[VALUES * (THREADS + 1)];
static int used;

static int32_t make_guarded(void *ctx, uint32_t index, void **value) {
    guarded *g = &pool[ADD(used, 1)];
    pthread_mutexattr_t checked;
    (void)ctx, (void)index;
    CHECK_IS(pthread_mutexattr_init(&checked), 0);
    CHECK_IS(pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK), 0);
    CHECK_IS(pthread_mutex_init(&g->mutex, &checked), 0);
    g->self = g;
    SET(g->ready, 1);
    *value = g;
    return 0;
}
static void destroy_guarded(void *ctx, uint32_t index, void *value) {
    guarded *g = (guarded *)value;
    (void)ctx, (void)index;
    CHECK_IS(pthread_mutex_destroy(&g->mutex), 0); /* EBUSY if anybody is inside */
    CHECK_IS(ADD(g->dead, 1), 0);
}
static const lazy_slot_config configs[2] = {
    { sizeof(lazy_slot_config), "own", NULL, make_guarded, destroy_guarded, NULL, NULL, LAZY_SLOT_THREAD, LAZY_FORK_KEEP },
    { sizeof(lazy_slot_config), "common", NULL, make_guarded, destroy_guarded, NULL, NULL, LAZY_SLOT_PROCESS, LAZY_FORK_KEEP },
};
static lazy_slot slots[2] = { LAZY_SLOT_INIT(&configs[0]), LAZY_SLOT_INIT(&configs[1]) };

static guarded *lock(lazy_slot *slot, uint32_t index) {
    void *value = NULL;
    CHECK_IS(lazy_slot_get(slot, index, &value), LAZY_OK);
    guarded *g = (guarded *)value;
    CHECK_IS(COUNT(g->ready), 1);
    CHECK_IS(pthread_mutex_lock(&g->mutex), 0);
    CHECK(g->self == g);
    return g;
}
static void *locks(void *ctx) {
    (void)ctx;
    for (uint32_t i = 0; i < VALUES; i++) {
        guarded *own = lock(&slots[0], i * 37), *common = lock(&slots[1], i);
        own->counter++;
        common->counter++;
        for (uint32_t before = 0; before < i; before++) { /* others are looked up while these are locked */
            void *value = NULL;
            CHECK_IS(lazy_slot_get(&slots[0], before * 37, &value), LAZY_OK);
            CHECK(((guarded *)value)->self == value);
        }
        CHECK_IS(pthread_mutex_unlock(&common->mutex), 0);
        CHECK_IS(pthread_mutex_unlock(&own->mutex), 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(locks, NULL);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    CHECK_IS(COUNT(used), VALUES * (THREADS + 1));
    for (uint32_t i = 0; i < VALUES; i++) {
        guarded *common = lock(&slots[1], i);
        CHECK_IS(common->counter, THREADS);
        CHECK_IS(pthread_mutex_unlock(&common->mutex), 0);
    }
    CHECK_IS(lazy_slot_retire(&slots[1]), LAZY_OK);
    for (int i = 0; i < VALUES * (THREADS + 1); i++) CHECK_IS(COUNT(pool[i].dead), 1);
    return finish();
}
