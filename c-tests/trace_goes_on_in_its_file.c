// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a trace that is lost because somebody opens the same name again: a second copy of the library in the process, the program
// that it becomes by exec, one that it starts. They go on in the file of a process that lives; what one has left that is gone is written over.
#include "traced.h"
#include "two_copies.h"

static lazy_status init_of(const copy *from, const char *name) {
    return from->init(from->named(name));
}
static int becomes(const char *mode) {
    execl("/proc/self/exe", "traced", mode, (char *)NULL);
    return 99;
}
static int work(const char *mode) {
    copy ours = copy_in(RTLD_DEFAULT);
    CHECK_IS(init_of(&ours, mode), LAZY_OK);
    if (!strcmp(mode, "exec")) return becomes("after exec");
    if (!strcmp(mode, "copies")) {
        copy theirs = copy_in(load_copy(ours.file));
        CHECK_IS(init_of(&theirs, "of the copy"), LAZY_OK);
    }
    if (!strcmp(mode, "starts")) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) _exit(becomes("started"));
        int status = 0;
        CHECK_IS(waitpid(child, &status, 0), child);
        CHECK_IS(status, 0);
    }
    if (strcmp(mode, "started")) CHECK_IS(init_of(&ours, "at last"), LAZY_OK);
    return 0;
}
/* Attempts for these, in this order. */
static void check_begun(const char *path, const char *const *names, int count) {
    int at = 0;
    trace_read(path);
    check_lines(0);
    for (int i = 0; i < line_count; i++) {
        if (lines[i].ph != 'B' || strcmp(lines[i].cat, "attempt")) continue;
        CHECK(at < count);
        CHECK_IS(strcmp(lines[i].once, names[at]), 0);
        at++;
    }
    CHECK_IS(at, count);
}
static void check_mode(const char *name, const char *mode, const char *between) {
    const char *names[3] = { mode, between, "at last" };
    pid_t child = traced_start(mode, "LAZYONCE_TRACE", trace_path(name));
    CHECK_IS(traced_status(child), 0);
    char file[64];
    const char *percent = strstr(name, "%p");
    if (percent) snprintf(file, sizeof file, "%.*s%d%s", (int)(percent - name), name, (int)child, percent + 2);
    else snprintf(file, sizeof file, "%s", name);
    check_begun(trace_path(file), names, 3);
    if (percent) trace_end(file);
}

int main(int count, char **arguments) {
    if (count > 1) return work(arguments[1]);
    trace_begin();
    for (int again = 0; again < 2; again++) {
        check_mode("trace.json", "copies", "of the copy");
        check_mode("trace.json", "exec", "after exec");
        check_mode("trace.json", "starts", "started");
        check_mode("trace-%p.json", "copies", "of the copy");
        check_mode("trace-%p.json", "exec", "after exec");
    }
    trace_end("trace.json");
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
