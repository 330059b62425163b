/* `--backend=cuda`, the default, takes the driver that the machine has; `--backend=host` the one of host_libcuda.c, which needs no device and is
   none. It is chosen before `main`, so that no program has to know, and by a new start, since the loader reads its path but once. */
#ifndef BACKEND_H
#define BACKEND_H
#include "check.h"

static bool is_host_backend;

static inline void refuse_backend(const char *program, const char *reason, const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program, reason, what);
    _exit(2);
}
static inline bool is_gpu_required(void) {
    const char *required = getenv("LAZYONCE_REQUIRE_GPU");
    return required && !strcmp(required, "1");
}
/* The folder that `build` makes beside the programs. */
static inline void find_host_folder(char *folder, size_t capacity) {
    ssize_t length = readlink("/proc/self/exe", folder, capacity);
    CHECK(length > 0 && (size_t)length + sizeof "/host" <= capacity);
    folder[length] = 0;
    strcpy(strrchr(folder, '/'), "/host");
}
static inline void use_host_driver(char **argv) {
    char folder[4096], driver[4200], *path = NULL;
    const char *before = getenv("LD_LIBRARY_PATH");
    find_host_folder(folder, sizeof folder);
    size_t length = strlen(folder);
    is_host_backend = true;
    if (before && !strncmp(before, folder, length) && (!before[length] || before[length] == ':')) return;
    snprintf(driver, sizeof driver, "%s/libcuda.so.1", folder);
    if (access(driver, R_OK)) refuse_backend(argv[0], "the host backend has no driver", driver);
    CHECK(asprintf(&path, "%s%s%s", folder, before ? ":" : "", before ? before : "") > 0);
    CHECK_IS(setenv("LD_LIBRARY_PATH", path, 1), 0);
    execv("/proc/self/exe", argv);
    refuse_backend(argv[0], "cannot be started again", strerror(errno));
}
__attribute__((__constructor__)) static void choose_backend(int argc, char **argv) {
    const char *wanted = argc > 1 ? argv[argc - 1] : "--backend=cuda";
    bool is_host = !strcmp(wanted, "--backend=host");
    if (argc > 2 || (!is_host && strcmp(wanted, "--backend=cuda"))) {
        refuse_backend(argv[0], "takes --backend=cuda or --backend=host only, not", wanted);
    }
    if (is_host && is_gpu_required()) refuse_backend(argv[0], "LAZYONCE_REQUIRE_GPU is 1, and no GPU is", wanted);
    if (is_host) use_host_driver(argv);
}
#endif
