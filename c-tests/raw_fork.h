/* The two ways to make a child without any fork handler: `_Fork`, where the C library has it, and the bare system call. */
#ifndef RAW_FORK_H
#define RAW_FORK_H
#include "forked_child.h"
#include <dlfcn.h>

typedef enum raw_way { BY_UNDERSCORE_FORK, BY_CLONE, RAW_WAYS } raw_way;
static inline pid_t raw_fork(raw_way way) {
    pid_t (*underscore_fork)(void);
    *(void **)&underscore_fork = dlsym(RTLD_DEFAULT, "_Fork");
    if (way == BY_UNDERSCORE_FORK) return underscore_fork ? underscore_fork() : -1;
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
static inline int has_way(raw_way way) { return way == BY_CLONE || dlsym(RTLD_DEFAULT, "_Fork") != NULL; }
static inline void in_raw_child(raw_way way, void (*body)(void)) {
    fflush(NULL);
    pid_t child = raw_fork(way);
    CHECK(child >= 0);
    if (child == 0) {
        alarm(10);
        body();
        _exit(0);
    }
    check_child(child);
}
#endif
