// shared: slot_plugin.c
// Guards against a call into code that is gone, and against a look at a slot, a configuration or a name there: a plugin with
// slots is retired and really unloaded while threads and a captured state hold their values, one of them inside that state.
// Then the threads leave, end and read their last errors, the state is freed, and a dump is written.
#include "slots.h"
#include <dlfcn.h>

enum { THREADS = 6 };
struct plugin_counts { int made, copied, destroyed; };
static struct plugin_counts counts;
static lazy_slot *slots[2];
static lazy_thread_state *state;
static pthread_barrier_t in_use, unloaded;

static void *uses(void *inside) {
    void *value = NULL;
    if (inside) CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    for (int i = 0; i < 2; i++) CHECK_IS(lazy_slot_get(slots[i], 1, &value), LAZY_OK);
    CHECK_IS(lazy_slot_get(slots[0], 13, &value), LAZY_E_CALLBACK);
    pthread_barrier_wait(&in_use);
    pthread_barrier_wait(&unloaded);
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->code, 13);
    CHECK_HAS(error->message, "the plugin's");
    CHECK_HAS(error->message, "not this one");
    if (error->once) CHECK(strlen(error->once) < 100);
    for (const lazy_error *cause = error; cause; cause = cause->cause) CHECK(strlen(cause->message) > 0);
    if (inside && (intptr_t)inside % 2) CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    Dl_info file;
    void *handle = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW | RTLD_LOCAL), *value = NULL;
    CHECK(handle != NULL);
    lazy_slot *(*plugin_slot)(int, struct plugin_counts *);
    *(void **)&plugin_slot = dlsym(handle, "plugin_slot");
    void *code = *(void **)&plugin_slot;
    for (int i = 0; i < 2; i++) CHECK((slots[i] = plugin_slot(i, &counts)) != NULL);

    CHECK_IS(lazy_slot_get(slots[0], 1, &value), LAZY_OK);
    CHECK_IS(lazy_slot_get(slots[0], 2, &value), LAZY_OK);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK(COUNT(counts.copied) >= 2);
    pthread_barrier_init(&in_use, NULL, THREADS + 1);
    pthread_barrier_init(&unloaded, NULL, THREADS + 1);
    for (intptr_t i = 0; i < THREADS; i++) threads[i] = start(uses, (void *)(i < THREADS / 2 ? i : 0));
    pthread_barrier_wait(&in_use);
    for (int i = 0; i < 2; i++) CHECK_IS(lazy_slot_retire(slots[i]), LAZY_OK);
    CHECK_IS(COUNT(counts.destroyed), COUNT(counts.made) + COUNT(counts.copied));
    CHECK_IS(dlclose(handle), 0);
    CHECK(dladdr(code, &file) == 0); /* it is gone */
    pthread_barrier_wait(&unloaded);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    lazy_thread_state_free(state);
    int null = open("/dev/null", O_WRONLY);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    close(null);
    CHECK_IS(COUNT(counts.destroyed), COUNT(counts.made) + COUNT(counts.copied));
    return finish();
}
