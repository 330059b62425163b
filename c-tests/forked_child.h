/* Runs a function in a forked child, which has an alarm so that a hang becomes a failure of its own, and checks how it
   ended. The child leaves by _exit: the parent's exit handlers are not its own. */
#ifndef FORKED_CHILD_H
#define FORKED_CHILD_H
#include "check.h"
#include <signal.h>
#include <sys/wait.h>

static inline void check_child(pid_t child) {
    int status = 0;
    CHECK_IS(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) fprintf(stderr, "the child hung\n");
    CHECK(WIFEXITED(status));
    CHECK_IS(WEXITSTATUS(status), 0);
}
static inline void in_child_for(unsigned seconds, void (*body)(void)) {
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(seconds);
        body();
        _exit(0);
    }
    check_child(child);
}
static inline void in_child(void (*body)(void)) { in_child_for(20, body); }
#endif
