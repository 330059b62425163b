// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a program that fails, or is spoken to at every event, because its trace cannot be written, or may
// not become larger (SIGXFSZ); and against events in a file of
// the program's own that has come to stand behind the descriptor.
#include "traced.h"
#include "callers.h"
#include <sys/resource.h>

static lazy_once first = LAZY_ONCE_INIT, second = LAZY_ONCE_INIT;

static int work(void) {
    CHECK_IS(lazy_once_init(&first), LAZY_OK);
    CHECK_IS(lazy_once_init(&second), LAZY_OK);
    return 0;
}
/* Until the file is as large as it may be, for this child; its parent goes on. */
static int fills(void) {
    struct rlimit limit;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child != 0) {
        int status = 0;
        CHECK_IS(waitpid(child, &status, 0), child);
        CHECK_IS(lazy_once_init(&first), LAZY_OK);
        return status;
    }
    CHECK_IS(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 8192;
    CHECK_IS(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 200; i++) {
        lazy_once once = LAZY_ONCE_INIT;
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
    }
    return 0;
}
/* As a daemon does. */
static int closes_everything(void) {
    CHECK_IS(lazy_once_init(&first), LAZY_OK);
    for (int fd = 3; fd < 64; fd++) close(fd);
    int own = open(trace_path("own"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int fd = 3; fd < 64; fd++)
        if (fd != own) dup2(own, fd);
    CHECK_IS(lazy_once_init(&second), LAZY_OK);
    CHECK_IS(lseek(own, 0, SEEK_END), 0);
    return 0;
}
/* Each line is whole: of the one for which there was no room, nothing is left. */
static void check_whole(const char *path) {
    char *line = NULL;
    size_t room = 0;
    int lines = 0;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    for (ssize_t length; (length = getline(&line, &room, file)) > 0; lines++) {
        CHECK(lines == 0 || (length > 4 && !strcmp(line + length - 4, "}},\n")));
        CHECK(lines == 0 || strstr(line + 1, "{\"ph\"") == NULL);
    }
    CHECK(lines > 20);
    fclose(file);
    free(line);
}
int main(int count, char **arguments) {
    if (count > 1 && arguments[1][0] == 'w') return work();
    if (count > 1 && arguments[1][0] == 'f') return fills();
    if (count > 1) return snprintf(trace_folder, sizeof trace_folder, "%s", arguments[1]), closes_everything();
    trace_begin();
    CHECK_IS(complaints("work", trace_path("trace.json")), 0);
    trace_end("trace.json");
    CHECK_IS(complaints("work", trace_path("nowhere/trace.json")), 1);
    CHECK_IS(complaints("work", "/dev/full"), 1);
    CHECK_IS(complaints("work", ""), 0);
    CHECK_IS(complaints("fills", trace_path("trace.json")), 1);
    check_whole(trace_path("trace.json"));
    trace_end("trace.json");
    CHECK_IS(complaints(trace_folder, trace_path("trace.json")), 1);
    trace_end("trace.json");
    trace_end("own");
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
