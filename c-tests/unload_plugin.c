/* What a plugin brings along that uses the library by itself: onces in its own data, with its own initializers, owners and
   texts. Loaded by the programs about unloading; the library is the program's. */
#include <lazyonce.h>

lazy_once plugin_ready = LAZY_ONCE_INIT, plugin_closed = LAZY_ONCE_INIT, plugin_failed = LAZY_ONCE_INIT;
static int owner;

static int32_t initialize(void *ctx) { return ctx != NULL; }
static int32_t fails(void *ctx) { (void)ctx; return lazy_fail(9, "the plugin's own words"); }
static void drop(void *ctx) { ++*(int *)ctx; }
static void describe(void *ctx, char *buffer, size_t capacity) { (void)ctx; if (capacity > 1) buffer[0] = 'p', buffer[1] = 0; }

/* Leaves in each of its onces something that points into it, and in the given one a request; `dropped` counts. */
int plugin_use(lazy_once *shared, uint32_t on_fork, int *dropped) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    config.name = "the plugin's";
    config.initialize = initialize;
    config.prepare = initialize;
    config.on_fork = on_fork;
    request.fn = fails;
    request.ctx = dropped;
    request.drop = drop;
    request.describe = describe;
    request.owner = &owner;
    request.site = LAZY_HERE;
    if (LAZY_INIT(&plugin_ready) != LAZY_OK) return 1;
    if (lazy_once_configure(&plugin_closed, &config) != LAZY_OK) return 2;
    if (LAZY_INIT(&plugin_closed) != LAZY_OK) return 3;
    if (lazy_once_run(&plugin_failed, fails, NULL) != LAZY_E_INIT) return 4;
    if (lazy_once_submit(&plugin_failed, &request, NULL) != LAZY_QUEUED) return 5;
    if (LAZY_INIT(&plugin_failed) != LAZY_E_DEFERRED) return 6; /* the error of this thread speaks of the plugin */
    return lazy_once_submit(shared, &request, NULL) == LAZY_QUEUED ? 0 : 7;
}
/* What the documentation asks for before dlclose; plugin_ready owns nothing and needs none of it. */
int plugin_finish(lazy_once *shared) {
    if (lazy_once_cancel_owner(shared, &owner) != 1) return 1;
    if (lazy_once_close(&plugin_closed) != LAZY_OK) return 2;
    return lazy_once_close(&plugin_failed) != LAZY_OK ? 3 : 0;
}
