/* `--backend=cuda`, the default, takes the driver that the machine has; `--backend=host` the one of host_libcuda.c, which needs no device and is
   none. It is chosen before `main`, so that no program has to know: loaded by its place, it is what the driver's name means from then on. */
#ifndef BACKEND_H
#define BACKEND_H
#include "check.h"
#include <dlfcn.h>

static bool is_host_backend;

static inline void refuse_backend(const char *program, const char *reason, const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program, reason, what);
    _exit(2);
}
static inline bool is_gpu_required(void) {
    const char *required = getenv("LAZYONCE_REQUIRE_GPU");
    return required && *required && strcmp(required, "0");
}
/* In the folder that `build` makes beside the programs. */
static inline void use_host_driver(const char *program) {
    static const char name[] = "/host/libcuda.so.1";
    char driver[4096];
    ssize_t length = readlink("/proc/self/exe", driver, sizeof driver);
    CHECK(length > 0 && (size_t)length + sizeof name <= sizeof driver);
    driver[length] = 0;
    strcpy(strrchr(driver, '/'), name);
    void *host = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
    if (!host) refuse_backend(program, "the host backend has no driver", dlerror());
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != host) refuse_backend(program, "another libcuda.so.1 stands before", driver);
    is_host_backend = true;
}
__attribute__((__constructor__)) static void choose_backend(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[argc - 1] : "--backend=cuda";
    bool is_host = !strcmp(wanted, "--backend=host");
    if (argc > 2 || (!is_host && strcmp(wanted, "--backend=cuda"))) {
        refuse_backend(argv[0], "takes --backend=cuda or --backend=host only, not", wanted);
    }
    if (is_host && is_gpu_required()) refuse_backend(argv[0], "LAZYONCE_REQUIRE_GPU is set, and no GPU is", wanted);
    if (is_host) use_host_driver(argv[0]);
}
#endif
