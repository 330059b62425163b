// shared: load_hook.c
// flags: -rdynamic
// Guards against an error that hangs where the call did not: while the loader's lock is held by a thread whose constructor waits for an
// attempt, a call with a limit comes back with who initializes, and from which function that was started, without that lock.
#include "callers.h"
#include <dlfcn.h>

static lazy_once once = LAZY_ONCE_INIT;
static hold initializer = HOLD_INIT;
static gate in_constructor = GATE_INIT;
static atomic_int constructor;

void library_is_loaded(void);
void library_is_loaded(void) {
    atomic_store(&constructor, thread_id());
    gate_open(&in_constructor);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
}
static void *loads(void *handle) {
    *(void **)handle = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW);
    return NULL;
}
void *function_with_a_name(void *arg);
void *function_with_a_name(void *arg) {
    CHECK_IS(lazy_once_run(&once, held, arg), LAZY_OK);
    return arg;
}

int main(void) {
    pthread_t owner = start(function_with_a_name, &initializer);
    gate_wait(&initializer.inside);
    void *handle = NULL;
    pthread_t loader = start(loads, &handle);
    gate_wait(&in_constructor);
    until_asleep(atomic_load(&constructor));
    CHECK_IS(lazy_once_init_timeout(&once, 1000000), LAZY_E_TIMEOUT);
    const lazy_error *error = lazy_last_error();
    CHECK_HAS(error->message, "function_with_a_name in ");
    CHECK_HAS(error->init_site.function, "function_with_a_name");
    CHECK_HAS(error->init_site.file, strrchr(program_invocation_name, '/'));
    CHECK_HAS(info_of(&once).init_site.function, "function_with_a_name");
    gate_open(&initializer.go);
    join(owner);
    join(loader);
    CHECK(handle != NULL);
    return finish();
}
