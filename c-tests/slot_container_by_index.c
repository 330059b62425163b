// Guards against containers that some kinds of thread share and others do not: one container and one lock per device, both
// lazily made by index, used at once by the thread that imported, by threads started by hand and by threads inside its
// captured state. The locks and the shared containers are the process's: one of each is made; a thread's own table is not.
#include "slots.h"

enum { DEVICES = 4, EACH = 4, CAPTURES = 50 };
typedef struct device { pthread_mutex_t lock; int ready, captures; } device;
static device all_devices[DEVICES];
static int devices_made, devices_destroyed;

static int32_t make_device(void *ctx, uint32_t index, void **value) {
    device *d = &((device *)ctx)[index];
    CHECK(index < DEVICES);
    CHECK_IS(pthread_mutex_init(&d->lock, NULL), 0);
    SET(d->ready, 1);
    ADD(devices_made, 1);
    *value = d;
    return 0;
}
static void destroy_device(void *ctx, uint32_t index, void *value) {
    CHECK(value == &((device *)ctx)[index]);
    CHECK_IS(pthread_mutex_destroy(&((device *)value)->lock), 0);
    ADD(devices_destroyed, 1);
}
static const lazy_slot_config devices_config = { sizeof(lazy_slot_config), "devices", all_devices, make_device, destroy_device,
                                                 NULL, NULL, LAZY_SLOT_PROCESS, LAZY_FORK_KEEP };
static const lazy_slot_config tables_config = SHARED_ITEMS("tables");
static lazy_slot devices = LAZY_SLOT_INIT(&devices_config), tables = LAZY_SLOT_INIT(&tables_config);
static pthread_barrier_t together;
static lazy_thread_state *captured;
static item *importers[DEVICES];

static device *get_device(uint32_t index) {
    void *value = NULL;
    CHECK_IS(lazy_slot_get(&devices, index, &value), LAZY_OK);
    CHECK(value == &all_devices[index]);
    CHECK_IS(COUNT(all_devices[index].ready), 1); /* also for a sanitizer, which cannot see into the library */
    return &all_devices[index];
}
static void *captures(void *kind) {
    if (kind == captured) CHECK_IS(lazy_thread_state_enter(captured), LAZY_OK);
    pthread_barrier_wait(&together);
    for (uint32_t i = 0; i < DEVICES * CAPTURES; i++) {
        device *d = get_device(i % DEVICES);
        pthread_mutex_lock(&d->lock);
        ADD(d->captures, 1);
        item *table = get(&tables, i % DEVICES);
        pthread_mutex_unlock(&d->lock);
        CHECK_IS(table == importers[i % DEVICES], kind != NULL);
        CHECK_IS(COUNT(table->maker) == thread_id(), kind != captured);
    }
    if (kind == captured) CHECK_IS(lazy_thread_state_leave(captured), LAZY_OK);
    return NULL;
}

int main(void) {
    pthread_t threads[2 * EACH];
    for (uint32_t i = 0; i < DEVICES; i++) importers[i] = get_new(&tables, i);
    CHECK_IS(lazy_thread_state_capture(&captured), LAZY_OK);
    CHECK_IS(COUNT(copied), DEVICES);
    pthread_barrier_init(&together, NULL, 2 * EACH + 1);
    for (int i = 0; i < 2 * EACH; i++) threads[i] = start(captures, i % 2 ? captured : NULL);
    captures(importers);
    for (int i = 0; i < 2 * EACH; i++) join(threads[i]);
    CHECK_IS(COUNT(devices_made), DEVICES);
    CHECK_IS(COUNT(devices_destroyed), 0);
    CHECK_IS(COUNT(made), DEVICES + DEVICES * EACH);
    CHECK_IS(COUNT(destroyed), DEVICES * EACH);
    for (uint32_t i = 0; i < DEVICES; i++) CHECK_IS(COUNT(get_device(i)->captures), CAPTURES * (2 * EACH + 1));
    lazy_thread_state_free(captured);
    CHECK_IS(lazy_slot_retire(&tables), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&devices), LAZY_OK);
    CHECK_IS(COUNT(devices_destroyed), DEVICES);
    CHECK_BALANCE();
    return finish();
}
