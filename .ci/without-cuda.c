/* What the CUDA functions answer in a library that was built without its feature `cuda`: a once can be set up, its attempt and the query find no
   driver, nothing is bound, wrong arguments are as wrong as ever, and a driver that the machine may have is not touched. */
#include <dlfcn.h>
#include <lazyonce.h>
#include <stdio.h>
#include <string.h>

static int failures;
static void check(int line, int answered, int wanted, const char *part) {
    const char *message = answered < 0 ? lazy_last_error()->message : "";
    if (answered == wanted && strstr(message, part)) return;
    fprintf(stderr, "line %d: %d, not %d; or not \"%s\": %s\n", line, answered, wanted, part, message);
    failures++;
}
static int32_t queued(void *ctx) {
    ++*(int *)ctx;
    return 0;
}
static int32_t fallback(void *ctx) {
    (void)ctx;
    return 0;
}

int main(void) {
    static lazy_once once = LAZY_ONCE_INIT;
    lazy_config own = LAZY_CONFIG_INIT;
    lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
    lazy_cuda_options options = LAZY_CUDA_OPTIONS_INIT;
    int ran = 0;
    options.flags = 1;
    check(__LINE__, lazy_cuda_setup(NULL, NULL), LAZY_E_INVALID, "");
    check(__LINE__, lazy_cuda_setup(&once, &options), LAZY_E_INVALID, "flags");
    check(__LINE__, lazy_cuda_setup(&once, NULL), LAZY_OK, "");
    check(__LINE__, lazy_once_call(&once, queued, &ran), LAZY_QUEUED, "");
    check(__LINE__, lazy_once_init(&once), LAZY_E_UNAVAILABLE, "without its feature `cuda`");
    check(__LINE__, lazy_cuda_query(&info), LAZY_E_UNAVAILABLE, "without its feature `cuda`");
    check(__LINE__, lazy_cuda_query(NULL), LAZY_E_INVALID, "");
    check(__LINE__, lazy_cuda_bind_thread(0), LAZY_E_NOT_NOW, "lazy_cuda_setup");
    check(__LINE__, lazy_cuda_bind_thread(-1), LAZY_E_NOT_NOW, "lazy_cuda_setup");
    check(__LINE__, info.library || dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), 0, "");
    own.initialize = fallback;
    check(__LINE__, lazy_once_reset(&once), LAZY_OK, "");
    check(__LINE__, lazy_once_configure(&once, &own), LAZY_OK, "");
    check(__LINE__, lazy_once_init(&once), LAZY_OK, "");
    check(__LINE__, ran, 1, "");
    return failures != 0;
}
