// preload: preload_stranger.c
// Guards against a preloaded library that exports `is_initialized`: neither the library nor the header's short name may
// bind to it, because it would say that a gate is ready which nobody has opened.
#include "check.h"
#include <dlfcn.h>

static int ran;
static int32_t count(void *ctx) { (void)ctx; return ++ran < 0; }

int main(void) {
    int *stranger_asked = (int *)dlsym(RTLD_DEFAULT, "stranger_asked");
    CHECK(stranger_asked != NULL); /* else nothing was preloaded, and this proves nothing */
    Dl_info found;
    CHECK(dladdr(dlsym(RTLD_DEFAULT, "is_initialized"), &found) != 0);
    CHECK(!strstr(found.dli_fname, "liblazyonce"));

    CHECK(!lazy_is_initialized());
    CHECK(!is_initialized());
    CHECK_IS(lazy_call(count, NULL), LAZY_QUEUED);
    CHECK_IS(ran, 0);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK(lazy_is_initialized());
    CHECK(is_initialized());
    CHECK_IS(lazy_call(count, NULL), LAZY_OK);
    CHECK_IS(*stranger_asked, 0);
    return finish();
}
