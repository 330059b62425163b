// preload: plugin.c
// Guards against a call into code that is gone: a plugin, loaded and really unloaded, takes its requests back before they run,
// while one of them runs on another thread, and from inside its own request, which unloads it as its last act. Any later call
// of its callbacks, or look at its strings, is a crash.
#include "requests.h"
#include <dlfcn.h>
#include <sys/mman.h>

static struct plugin {
    int (*before)(void *);
    void (*dropped)(void *);
    int (*unload)(void *);
    void *argument;
    void *handle;
    lazy_fn run, run_and_unload;
    void (*drop)(void *);
    void (*describe)(void *, char *, size_t);
} plugin;
static lazy_once *once;
static int canceller, ran, dropped;

/* A copy of the preloaded file, which the loader takes for another library, and gives back when it is closed. */
static void load_plugin(void) {
    Dl_info file;
    CHECK(dladdr(dlsym(RTLD_DEFAULT, "plugin_run"), &file) != 0);
    char bytes[4096], path[64];
    int from = open(file.dli_fname, O_RDONLY), to = memfd_create("plugin", MFD_CLOEXEC);
    ssize_t size;
    CHECK(from >= 0 && to >= 0);
    while ((size = read(from, bytes, sizeof bytes)) > 0) CHECK_IS(write(to, bytes, (size_t)size), size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", to);
    plugin.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin.handle != NULL);
    close(from);
    close(to);
    *(void **)&plugin.run = dlsym(plugin.handle, "plugin_run");
    *(void **)&plugin.run_and_unload = dlsym(plugin.handle, "plugin_run_and_unload");
    *(void **)&plugin.drop = dlsym(plugin.handle, "plugin_drop");
    *(void **)&plugin.describe = dlsym(plugin.handle, "plugin_describe");
    CHECK(dlsym(RTLD_DEFAULT, "plugin_run") != *(void **)&plugin.run); /* a copy indeed */
    ran = dropped = 0;
}
static int unload_plugin(void *ctx) {
    Dl_info file;
    void *code = *(void **)&plugin.run;
    (void)ctx;
    CHECK_IS(dlclose(plugin.handle), 0);
    CHECK(dladdr(code, &file) == 0); /* it is gone */
    return 0;
}
static void count_drop(void *ctx) {
    (void)ctx;
    ADD(dropped, 1);
}
static void submit(lazy_fn fn, void (*drop)(void *), const void *owner) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = fn;
    request.ctx = &plugin;
    request.drop = drop;
    request.describe = plugin.describe;
    request.owner = owner;
    queue_request(once, request);
}
static int nothing(void *ctx) {
    (void)ctx;
    ADD(ran, 1);
    return 0;
}
static void before_it_runs(void) {
    load_plugin();
    plugin.before = nothing;
    for (int i = 0; i < 3; i++) submit(plugin.run, plugin.drop, &plugin);
    CHECK_IS(lazy_once_cancel_owner(once, &plugin), 3);
    unload_plugin(NULL);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(ran, 0);
    CHECK_IS(dropped, 3);
}
static int until_cancelled(void *result) {
    ADD(ran, 1);
    while (!COUNT(canceller)) sched_yield();
    until_asleep(COUNT(canceller));
    return result != NULL;
}
static void *cancels_and_unloads(void *ctx) {
    (void)ctx;
    while (!COUNT(ran)) sched_yield();
    SET(canceller, thread_id());
    CHECK_IS(lazy_once_cancel_owner(once, &plugin), 2);
    unload_plugin(NULL);
    return NULL;
}
static void while_it_runs(int fails) {
    load_plugin();
    plugin.before = until_cancelled;
    plugin.argument = fails ? &plugin : NULL;
    SET(canceller, 0);
    for (int i = 0; i < 3; i++) submit(plugin.run, plugin.drop, &plugin);
    pthread_t thread = start(cancels_and_unloads, NULL);
    CHECK_IS(lazy_once_init(once), fails ? LAZY_E_DEFERRED : LAZY_OK);
    join(thread);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK_IS(dropped, 3);
}
static int withdraw(void *ctx) {
    (void)ctx;
    ADD(ran, 1);
    CHECK_IS(lazy_once_cancel_owner(once, &plugin), 2); /* does not wait for the request that it is in */
    return 0;
}
static void from_inside(void) {
    load_plugin();
    plugin.before = withdraw;
    plugin.unload = unload_plugin;
    submit(plugin.run_and_unload, NULL, &plugin);
    for (int i = 0; i < 2; i++) submit(plugin.run, plugin.drop, &plugin);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK_IS(dropped, 2);
}

int main(void) {
    static lazy_once onces[4];
    plugin.dropped = count_drop;
    once = &onces[0], before_it_runs();
    once = &onces[1], while_it_runs(0);
    once = &onces[2], while_it_runs(1);
    once = &onces[3], from_inside();
    return finish();
}
