// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a trace that is begun twice because two processes of the same name start at once, which no viewer opens, and against events of
// a process that lives, written over because the one that began the file is gone: its child goes on in it. Once all are gone it begins anew.
#include "traced.h"
#include "callers.h"
#include <sys/prctl.h>

enum { ROUNDS = 40 };
static lazy_once once = LAZY_ONCE_INIT;

static int heads(const char *path) {
    static char text[65536];
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, text, sizeof text - 1);
    CHECK(size > 0);
    text[size] = 0;
    close(fd);
    CHECK_IS(strncmp(text, "[\n", 2), 0);
    return occurrences(text, "process_labels");
}
static void starts_named(const char *name) {
    lazy_once *named = lazy_once_named(name);
    CHECK_IS(lazy_once_run(named, nothing, NULL), LAZY_OK);
}
/* The child says that it is there, and goes on when it is told to. */
static int leaves_a_child(int ready, int go) {
    char byte;
    starts_named("first");
    if (fork() != 0) return 0;
    CHECK_IS(write(ready, "", 1), 1);
    CHECK_IS(read(go, &byte, 1), 1);
    starts_named("last");
    CHECK_IS(write(ready, "", 1), 1);
    _exit(0);
}
static int attempts_of(const char *name) {
    int count = 0;
    for (int i = 0; i < line_count; i++) count += lines[i].ph == 'B' && !strcmp(lines[i].cat, "attempt") && !strcmp(lines[i].once, name);
    return count;
}
static void check_orphan(const char *path) {
    enum { READY_END = 40, GO_END = 41 };
    int ready[2], go[2];
    char byte;
    CHECK_IS(pipe(ready) | pipe(go), 0);
    CHECK_IS(dup2(ready[1], READY_END), READY_END);
    CHECK_IS(dup2(go[0], GO_END), GO_END);
    CHECK_IS(traced_status(traced_start("leaves", "LAZYONCE_TRACE", path)), 0);
    CHECK_IS(read(ready[0], &byte, 1), 1);
    CHECK_IS(traced_status(traced_start("other", "LAZYONCE_TRACE", path)), 0);
    CHECK_IS(write(go[1], "", 1), 1);
    CHECK_IS(read(ready[0], &byte, 1), 1);
    CHECK_IS(heads(path), 1);
    trace_read(path);
    CHECK_IS(attempts_of("first"), 1);
    CHECK_IS(attempts_of("other"), 1);
    CHECK_IS(attempts_of("last"), 1);
    CHECK(wait(NULL) > 0); /* the child that was left, which is this process's now: it is gone with all that it had open */
}

int main(int count, char **arguments) {
    if (count > 1 && !strcmp(arguments[1], "leaves")) return leaves_a_child(40, 41);
    if (count > 1 && !strcmp(arguments[1], "other")) return starts_named("other"), 0;
    if (count > 1) return lazy_once_init(&once);
    CHECK_IS(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    trace_begin();
    const char *path = trace_path("trace.json");
    for (int i = 0; i < ROUNDS; i++) {
        pid_t both[2];
        for (int j = 0; j < 2; j++) both[j] = traced_start("work", "LAZYONCE_TRACE", path);
        for (int j = 0; j < 2; j++) CHECK_IS(traced_status(both[j]), 0);
        CHECK_IS(heads(path), 1);
    }
    check_orphan(path);
    CHECK_IS(traced_status(traced_start("other", "LAZYONCE_TRACE", path)), 0);
    trace_read(path);
    CHECK_IS(attempts_of("first"), 0);
    CHECK_IS(attempts_of("other"), 1);
    trace_end("trace.json");
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
