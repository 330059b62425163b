// shared: unload_plugin.c
// Guards against a reference to what dlclose took away: a plugin's onces, ready and never closed, configured and closed, failed
// with a request and closed, and its request in somebody else's once. When it is gone, its error can still be read on the
// thread that has it, and dumps, forks, further attempts and another load of it find no trace.
#include "callers.h"
#include "dumped.h"
#include "forked_child.h"
#include <dlfcn.h>

static lazy_once shared = LAZY_ONCE_INIT;
static gate unloaded = GATE_INIT, used = GATE_INIT;
static void *handle;
static int dropped;
static uint32_t policy;

static void *symbol(const char *name) {
    void *found = dlsym(handle, name);
    CHECK(found != NULL);
    return found;
}
static void load(void) {
    handle = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW | RTLD_LOCAL);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
}
static void unload(void) {
    int (*finish_plugin)(lazy_once *);
    *(void **)&finish_plugin = symbol("plugin_finish");
    void *data = symbol("plugin_ready");
    Dl_info file;
    CHECK_IS(finish_plugin(&shared), 0);
    CHECK_IS(dlclose(handle), 0);
    CHECK(dladdr(data, &file) == 0); /* it is gone */
}
/* The error lives on; a thread that ends afterwards frees it. */
static void *uses_the_plugin(void *ctx) {
    int (*use)(lazy_once *, uint32_t, int *);
    *(void **)&use = symbol("plugin_use");
    CHECK_IS(use(&shared, policy, &dropped), 0);
    const lazy_error *error = lazy_last_error();
    gate_open(&used);
    gate_wait(&unloaded);
    CHECK_IS(error->status, LAZY_E_DEFERRED);
    CHECK_IS(error->code, 9);
    CHECK_HAS(error->message, "the plugin's own words");
    CHECK_HAS(error->message, "unload_plugin.c");
    CHECK_HAS(error->site.file, "unload_plugin.c");
    CHECK_HAS(error->site.function, "plugin_use");
    CHECK_HAS(error->init_site.file, "unload_plugin.c");
    return ctx;
}
static void child(void) {
    lazy_once own = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_call(&own, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&own), LAZY_OK);
    CHECK_IS(lazy_once_init(&shared), LAZY_OK);
}

int main(void) {
    for (policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) {
        unloaded = used = (gate)GATE_INIT;
        dropped = 0;
        load();
        pthread_t thread = start(uses_the_plugin, NULL);
        gate_wait(&used);
        unload();
        gate_open(&unloaded);
        join(thread);
        CHECK_IS(dropped, 2);
        char *dump = dumped();
        CHECK(strstr(dump, "plugin") == NULL);
        free(dump);
        in_child(child);
        CHECK_IS(lazy_once_init(&shared), LAZY_OK);
        CHECK_IS(lazy_once_reset(&shared), LAZY_OK);
    }
    return finish();
}
