/* The address of a function that the header also defines inline, against what dlsym finds in the library. */
#include "check.h"
#include <dlfcn.h>

static inline void check_address(const char *name, const void *address) {
    Dl_info found;
    if (dlsym(RTLD_DEFAULT, name) != address) fprintf(stderr, "%s:\n", name);
    CHECK(dlsym(RTLD_DEFAULT, name) == address);
    CHECK(dladdr(address, &found) != 0);
    CHECK_HAS(found.dli_fname, "liblazyonce");
}
#define ADDRESS(name) check_address(#name, (const void *)name)

static inline int check_addresses(void) {
    ADDRESS(lazy_once_is_initialized);
    ADDRESS(lazy_once_init);
    ADDRESS(lazy_once_run);
    ADDRESS(lazy_once_call);
    ADDRESS(lazy_once_is_initializing);
    ADDRESS(lazy_is_initialized);
    ADDRESS(lazy_init);
    ADDRESS(lazy_call);
    CHECK(dlsym(RTLD_DEFAULT, "is_initialized") != NULL); /* for FFI users; in C the name is the header's inline */
    return finish();
}
