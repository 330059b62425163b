/* Starts this program once more, with everything on that explains a hang; it hangs on purpose, and its warnings, its dump and its trace are
   read from outside. For C11. */
#ifndef HUNG_H
#define HUNG_H
#include "traced.h"
#include "callers.h"
#include <poll.h>
#include <signal.h>

static char said[65536]; /* to stderr */
static size_t said_size;
static int said_pipe;

static inline void until_said(const char *text) {
    while (strstr(said, text) == NULL) {
        ssize_t got = read(said_pipe, said + said_size, sizeof said - 1 - said_size);
        if (got <= 0) check_fail(__FILE__, __LINE__, text, said, "said");
        said_size += (size_t)got;
    }
}
/* The number that the hung program told under that name. */
static inline int told(const char *name) {
    char text[64];
    int number = 0;
    snprintf(text, sizeof text, "|%s ", name);
    until_said("|hung|");
    CHECK(strstr(said, text) != NULL);
    CHECK_IS(sscanf(strstr(said, text) + strlen(text), "%d", &number), 1);
    return number;
}
static inline void tell(const char *name, int number) {
    fprintf(stderr, "|%s %d|\n", name, number);
}
/* On a thread of its own: tells, when that caller waits, that everything hangs. */
static inline void *tells_that_it_hangs(void *waiter) {
    until_waiting((caller *)waiter);
    tell("waiter", atomic_load(&((caller *)waiter)->id));
    fprintf(stderr, "|hung|\n");
    return NULL;
}
/* A line of what was said has "thread NUMBER" and the other, which may be empty. */
static inline void until_said_of(int thread, const char *text) {
    char whole[512];
    snprintf(whole, sizeof whole, "thread %d %s", thread, text);
    until_said(whole);
}
static inline pid_t hang(void) {
    int pipes[2];
    trace_begin();
    CHECK_IS(pipe2(pipes, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setenv("LAZYONCE_WARN_AFTER", "0.2", 1);
        setenv("LAZYONCE_DUMP_SIGNAL", "USR1", 1);
        setenv("LAZYONCE_TRACE", trace_path("hung.json"), 1);
        dup2(pipes[1], 2);
        alarm(50);
        execl("/proc/self/exe", "hung", "hang", (char *)NULL);
        _exit(99);
    }
    close(pipes[1]);
    said_pipe = pipes[0];
    return child;
}
/* The rest is the dump. */
static inline void ask_for_dump(pid_t child) {
    until_said("|hung|");
    said_size = 0;
    memset(said, 0, sizeof said);
    CHECK_IS(kill(child, SIGUSR1), 0);
}
static inline void end_hang(pid_t child) {
    int status = 0;
    CHECK_IS(kill(child, SIGKILL), 0);
    CHECK_IS(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    trace_read(trace_path("hung.json"));
    trace_end("hung.json");
    CHECK_IS(rmdir(trace_folder), 0);
}
/* What began on that thread and had not ended, innermost first. */
static inline const line *left_open(long tid, int depth) {
    const line *open[32];
    int count = 0;
    for (int i = 0; i < line_count; i++) {
        if (lines[i].tid != tid) continue;
        if (lines[i].ph == 'B') open[count++] = &lines[i];
        else if (lines[i].ph == 'E') count--;
    }
    CHECK(depth < count);
    return open[count - 1 - depth];
}
#endif
