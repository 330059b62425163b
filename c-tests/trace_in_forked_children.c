// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a child that writes nothing, under its parent's number, or over what its parent wrote; and against files for children that
// never use the library.
#include "traced.h"
#include "callers.h"
#include "forked_child.h"
#include <dirent.h>

static lazy_once before = LAZY_ONCE_INIT, after = LAZY_ONCE_INIT, forking = LAZY_ONCE_INIT;

static void does_nothing(void) {}
static void uses_it(void) {
    CHECK_IS(lazy_once_init(&after), LAZY_OK);
}
static int32_t forks(void *ctx) {
    (void)ctx;
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) check_child(child);
    return 0;
}
/* Three children: one that does not use the library, one that does, and one that goes on with its parent's attempt. */
static int work(void) {
    pid_t parent = getpid();
    CHECK_IS(lazy_once_init(&before), LAZY_OK);
    in_child(does_nothing);
    in_child(uses_it);
    CHECK_IS(lazy_once_call(&forking, forks, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&forking, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&forking), LAZY_OK);
    if (getpid() != parent) _exit(0);
    CHECK_IS(lazy_once_init(&after), LAZY_OK);
    return 0;
}
static int lines_of(long pid, char ph) {
    int count = 0;
    for (int i = 0; i < line_count; i++) count += lines[i].pid == pid && lines[i].ph == ph;
    return count;
}
/* What the children wrote: one an attempt, the other the callback that came after its fork. */
static void check_child_lines(long pid) {
    CHECK_IS(lines_of(pid, 'i'), 1);
    CHECK_IS(lines_of(pid, 'B'), 1);
    CHECK_IS(lines_of(pid, 'E'), 1);
    for (int i = 0; i < line_count; i++) {
        if (lines[i].pid != pid) continue;
        CHECK_IS(lines[i].ph, 'i'); /* comes first */
        break;
    }
}
static void check_parent_lines(long pid) {
    CHECK_IS(lines_of(pid, 'i'), 0);
    CHECK_IS(lines_of(pid, 'B'), 5);
    CHECK_IS(lines_of(pid, 'E'), 5);
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return work();
    trace_begin();
    pid_t parent = traced_start("work", "LAZYONCE_TRACE", trace_path("trace.json"));
    CHECK_IS(traced_status(parent), 0);
    trace_read(trace_path("trace.json"));
    check_lines(0);
    check_parent_lines(parent);
    int children = 0;
    for (int i = 0; i < line_count; i++)
        if (lines[i].ph == 'i') check_child_lines(lines[i].pid), children++;
    CHECK_IS(children, 2);
    CHECK_IS(line_count, 16);
    trace_end("trace.json");

    parent = traced_start("work", "LAZYONCE_TRACE", trace_path("trace-%p-of-%p.json"));
    CHECK_IS(traced_status(parent), 0);
    DIR *folder = opendir(trace_folder);
    CHECK(folder != NULL);
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        long pid = 0, again = 0;
        if (entry->d_name[0] == '.') continue;
        CHECK_IS(sscanf(entry->d_name, "trace-%ld-of-%ld.json", &pid, &again), 2);
        CHECK_IS(pid, again);
        trace_read(trace_path(entry->d_name));
        for (int i = 0; i < line_count; i++) CHECK_IS(lines[i].pid, pid);
        check_lines(0);
        if (pid == parent) check_parent_lines(pid);
        else check_child_lines(pid);
        trace_end(entry->d_name);
        files++;
    }
    CHECK_IS(files, 3);
    closedir(folder);
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
