// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a program that writes its own text into the trace, because it was started with its first descriptors closed and the trace has
// got one of them.
#include "traced.h"

static lazy_once once = LAZY_ONCE_INIT;

static int work(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (write(fd, "the program's own\n", 18) != -1 || fcntl(fd, F_GETFD) != -1) return 10 + fd;
    }
    return lazy_once_init(&once);
}
static pid_t started_closed(const char *path) {
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child != 0) return child;
    setenv("LAZYONCE_TRACE", path, 1);
    alarm(40);
    for (int fd = 0; fd < 3; fd++) close(fd);
    execl("/proc/self/exe", "traced", "closed", (char *)NULL);
    _exit(99);
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return work();
    trace_begin();
    CHECK_IS(traced_status(started_closed(trace_path("trace.json"))), 0);
    trace_read(trace_path("trace.json"));
    CHECK_LINES("attempt", 1, 1);
    trace_end("trace.json");
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
