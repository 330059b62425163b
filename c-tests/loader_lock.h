/* A once that one thread initializes, and another that waits for it in a constructor of a library which it loads, with the loader's lock held.
   The program is linked with -rdynamic, and its shared object is load_hook.c. For C11. */
#ifndef LOADER_LOCK_H
#define LOADER_LOCK_H
#include "callers.h"
#include <dlfcn.h>

static lazy_once once = LAZY_ONCE_INIT;
static hold initializer = HOLD_INIT;
static gate in_constructor = GATE_INIT;
static atomic_int constructor;
static pthread_t loader;

void library_is_loaded(void);
void library_is_loaded(void) {
    atomic_store(&constructor, thread_id());
    gate_open(&in_constructor);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
}
static inline void *loads(void *ctx) {
    CHECK(dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW) != NULL);
    return ctx;
}
/* Once `initializer` is inside: returns when the constructor waits for it. */
static inline void hold_the_loader(void) {
    gate_wait(&initializer.inside);
    loader = start(loads, NULL);
    gate_wait(&in_constructor);
    until_asleep(atomic_load(&constructor));
}
static inline void let_the_loader_go(void) {
    gate_open(&initializer.go);
    join(loader);
}
#endif
