/* A plugin with a slot of its own: the slot, its configuration, name, callbacks and lock are in memory that goes away with the
   plugin. What they count is the program's, through `ctx`. */
#include <lazyonce.h>
#include <pthread.h>

struct plugin_counts { int made, copied, destroyed; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int values[64], used;

static int32_t create(void *ctx, uint32_t index, void **value) {
    if (index == 13) return lazy_fail(13, "not this one");
    pthread_mutex_lock(&lock);
    *value = &values[used++];
    ++*(int *)*value;
    pthread_mutex_unlock(&lock);
    __atomic_fetch_add(&((struct plugin_counts *)ctx)->made, 1, __ATOMIC_SEQ_CST);
    return 0;
}
static void destroy(void *ctx, uint32_t index, void *value) {
    (void)index;
    pthread_mutex_lock(&lock);
    --*(int *)value;
    pthread_mutex_unlock(&lock);
    __atomic_fetch_add(&((struct plugin_counts *)ctx)->destroyed, 1, __ATOMIC_SEQ_CST);
}
static void *share(void *ctx, void *value) {
    pthread_mutex_lock(&lock);
    ++*(int *)value;
    pthread_mutex_unlock(&lock);
    __atomic_fetch_add(&((struct plugin_counts *)ctx)->copied, 1, __ATOMIC_SEQ_CST);
    return value;
}
static lazy_slot_config config = { sizeof(lazy_slot_config), "the plugin's", NULL, create, destroy, share, NULL, 0, 0 };
static lazy_slot slots[2] = { LAZY_SLOT_INIT(&config), LAZY_SLOT_INIT(NULL) };

/* Slot 0 has its configuration in place, slot 1 is configured; the one is per thread, the other the process's. */
lazy_slot *plugin_slot(int number, struct plugin_counts *counts) {
    lazy_slot_config other = config;
    config.ctx = other.ctx = counts;
    other.scope = LAZY_SLOT_PROCESS;
    if (number == 1 && lazy_slot_configure(&slots[1], &other) < 0) return NULL;
    return &slots[number];
}
