/* Guards against an interpreter that is found where there is none: a C program without Python, and one that has loaded a
   libpython (argv[1]) for itself alone. What was not found is looked for again. */
#include "check.h"
#include <dlfcn.h>

int main(int count, char **arguments) {
    CHECK(lazy_host_cpython() == NULL);
    if (count > 1) {
        CHECK(dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) != NULL);
        CHECK(lazy_host_cpython() == NULL);
        CHECK(dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) != NULL);
        CHECK(lazy_host_cpython() != NULL);
        CHECK(lazy_host_cpython() == lazy_host_cpython());
    }
    return finish();
}
