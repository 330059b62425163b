// shared: load_hook.c
// flags: -rdynamic
// Guards against a hang that only an observer brings about: an event tells which object a call came from, while the loader's lock is held by
// a thread whose constructor waits for the very thread that tells.
#include "observed.h"
#include <dlfcn.h>

static lazy_once once = LAZY_ONCE_INIT;
static gate in_constructor = GATE_INIT;
static int constructor;

void library_is_loaded(void);
void library_is_loaded(void) {
    SET(constructor, thread_id());
    gate_open(&in_constructor);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
}
static void *loads(void *handle) {
    *(void **)handle = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW);
    return NULL;
}
static int32_t waits_for_constructor(void *ctx) {
    (void)ctx;
    gate_wait(&in_constructor);
    until_asleep(COUNT(constructor));
    return 0;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.initialize = waits_for_constructor;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, waits_for_constructor, NULL), LAZY_QUEUED);
    observe();
    pthread_t owner = start(initializes, &once);
    while (events_so_far() == 0) sched_yield();
    void *handle = NULL;
    pthread_t loader = start(loads, &handle);
    join(owner);
    join(loader);
    CHECK(handle != NULL);
    observe_no_more();
    CHECK_EVENTS(LAZY_EVENT_REQUEST, 1);
    for (int i = 0; i < event_count; i++) CHECK_IS(strcmp(events[i].file, program_invocation_name), 0);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
