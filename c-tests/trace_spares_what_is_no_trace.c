// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a file of somebody's that is emptied because LAZYONCE_TRACE names it, by a slip or as /dev/stderr; and against a program that
// waits before its main because the name is a pipe's that nobody reads. Each is said once on stderr, and the program goes on.
#include "traced.h"

static lazy_once once = LAZY_ONCE_INIT;
static const char important[] = "important\n";

static void write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK_IS(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}
static void check_begins(const char *path, const char *text) {
    char found[256] = "";
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    CHECK(read(fd, found, strlen(text)) >= 0);
    close(fd);
    CHECK_IS(strcmp(found, text), 0);
}
static void check_spared(const char *text) {
    const char *path = trace_path("log.txt");
    write_file(path, text);
    CHECK_IS(complaints("work", path), 1);
    check_begins(path, text);
    struct stat status;
    CHECK_IS(stat(path, &status), 0);
    CHECK_IS(status.st_size, strlen(text));
}
static void check_appended_to(const char *path) {
    int error = dup(2), log = open(path, O_WRONLY | O_APPEND);
    write_file(path, important);
    CHECK_IS(dup2(log, 2), 2);
    pid_t child = traced_start("work", "LAZYONCE_TRACE", "/dev/stderr");
    CHECK_IS(dup2(error, 2), 2);
    close(error);
    close(log);
    CHECK_IS(traced_status(child), 0);
    check_begins(path, "important\nlazyonce: the trace \"/dev/stderr\" (LAZYONCE_TRACE) goes no further: ");
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return lazy_once_init(&once);
    trace_begin();
    check_spared(important);
    check_spared("[\n");
    check_spared("[\n{\"ph\":\"M\",\"pid\":17,\"name\":\"process_labels\",\"args\":{\"labels\":\"another\"}},\n");
    check_appended_to(trace_path("log.txt"));
    trace_end("log.txt");
    CHECK_IS(mkfifo(trace_path("fifo"), 0600), 0);
    CHECK_IS(complaints("work", trace_path("fifo")), 1);
    int reader = open(trace_path("fifo"), O_RDONLY | O_NONBLOCK);
    CHECK(reader >= 0);
    CHECK_IS(complaints("work", trace_path("fifo")), 1);
    char byte;
    CHECK_IS(read(reader, &byte, 1), 0);
    trace_end("fifo");
    CHECK_IS(complaints("work", trace_folder), 1);
    CHECK_IS(complaints("work", "/dev/null"), 0);
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
