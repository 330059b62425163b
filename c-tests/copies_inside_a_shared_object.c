// static-shared: static_inside.c
// Guards against a static library inside a shared object that takes the program's onces for its own, that binds to the program's
// library in part, or that dlclose unloads while threads and forks still know it: it is linked with -z nodelete.
#include "two_copies.h"

static void *ends_with_an_error(void *given) {
    const copy *theirs = (const copy *)given;
    lazy_once own = LAZY_ONCE_INIT;
    CHECK_IS(theirs->run(&own, seven, NULL), LAZY_E_INIT);
    CHECK_IS(theirs->last_error()->code, 7);
    return given;
}

int main(void) {
    const char *path = getenv("LAZYONCE_TEST_SHARED");
    if (!path) {
        fprintf(stderr, "no static library to build the shared object from\n");
        return 77;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != NULL);
    copy ours = copy_in(RTLD_DEFAULT), theirs = copy_in(handle);
    lazy_once *(*default_of_plugin)(void);
    *(void **)&default_of_plugin = dlsym(handle, "static_inside_default");
    CHECK(default_of_plugin && default_of_plugin() == theirs.get_default()); /* what it calls is its own */
    check_two(&ours, &theirs);
    CHECK_IS(dlclose(handle), 0);
    join(start(ends_with_an_error, &theirs));
    CHECK_IS(theirs.init(theirs.get_default()), LAZY_OK);
    return finish();
}
