/* What this program writes to stderr when it runs once more with LAZYONCE_WARN_AFTER, or another variable, set. For C11. */
#ifndef WARNED_H
#define WARNED_H
#include "callers.h"
#include <sys/wait.h>

static char warnings[8192];

/* The program is started as `mode` and has to exit with 0. Nothing is read before: it can look at how much it has written. */
static inline void warned_with(const char *variable, const char *value, const char *mode) {
    int pipes[2];
    CHECK_IS(pipe2(pipes, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setenv(variable, value, 1);
        dup2(pipes[1], 2);
        alarm(40);
        execl("/proc/self/exe", "warned", mode, (char *)NULL);
        _exit(99);
    }
    close(pipes[1]);
    int status = 0;
    CHECK_IS(waitpid(child, &status, 0), child);
    size_t size = 0;
    for (ssize_t got; (got = read(pipes[0], warnings + size, sizeof warnings - 1 - size)) > 0;) size += (size_t)got;
    warnings[size] = 0;
    close(pipes[0]);
    if (status != 0) check_fail(__FILE__, __LINE__, mode, warnings, "0");
}
static inline void warned(const char *mode, const char *seconds) {
    warned_with("LAZYONCE_WARN_AFTER", seconds, mode);
}
static inline int warning_count(const char *part) {
    return occurrences(warnings, part);
}
#endif
