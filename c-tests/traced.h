/* Runs this program once more with LAZYONCE_TRACE set, and reads the trace back: every line is checked to be an event in JSON. For C11. */
#ifndef TRACED_H
#define TRACED_H
#include "requests.h"
#include <ctype.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { MOST_LINES = 20000 };
typedef struct line { char ph, cat[16], name[256], once[64], site[256], caller[256]; long pid, tid, status, number; long long ts_ns; } line;
static line lines[MOST_LINES];
static int line_count;
static char trace_folder[] = "/tmp/lazyonce-trace-XXXXXX";

static inline void trace_begin(void) {
    CHECK(mkdtemp(trace_folder) != NULL);
}
static inline const char *trace_path(const char *name) {
    static char path[4][320];
    static int next;
    char *to = path[next++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", trace_folder, name);
    return to;
}
static inline void trace_end(const char *name) {
    CHECK_IS(unlink(trace_path(name)), 0);
}
/* Starts this program with `mode` as its argument, and gives its process. */
static inline pid_t traced_start(const char *mode, const char *variable, const char *value) {
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child != 0) return child;
    setenv(variable, value, 1);
    alarm(40);
    execl("/proc/self/exe", "traced", mode, (char *)NULL);
    _exit(99);
}
static inline int traced_status(pid_t child) {
    int status = 0;
    CHECK_IS(waitpid(child, &status, 0), child);
    return status;
}

/* How often the program speaks of the trace on stderr. */
static inline int complaints(const char *mode, const char *path) {
    int pipes[2];
    char text[4096] = "";
    CHECK_IS(pipe2(pipes, O_CLOEXEC), 0);
    int error = dup(2);
    dup2(pipes[1], 2);
    pid_t child = traced_start(mode, "LAZYONCE_TRACE", path);
    dup2(error, 2);
    close(error);
    close(pipes[1]);
    size_t size = 0;
    for (ssize_t got; (got = read(pipes[0], text + size, sizeof text - 1 - size)) > 0;) size += (size_t)got;
    close(pipes[0]);
    if (traced_status(child) != 0) check_fail(__FILE__, __LINE__, mode, text, "0");
    return occurrences(text, "LAZYONCE_TRACE");
}

/* JSON: each of these is behind what it read. */
static inline const char *json_string(const char *at) {
    CHECK(*at == '"');
    for (at++; *at != '"'; at++) {
        CHECK((unsigned char)*at >= ' ');
        if (*at != '\\') continue;
        at++;
        CHECK(*at != 0 && strchr("\"\\/bfnrtu", *at) != NULL);
        if (*at == 'u') for (int i = 0; i < 4; i++) CHECK(isxdigit((unsigned char)*++at));
    }
    return at + 1;
}
static inline const char *json_object(const char *at) {
    CHECK(*at == '{');
    do {
        at = json_string(at + 1);
        CHECK(*at == ':');
        at++;
        if (*at == '"') {
            at = json_string(at);
        } else if (*at == '{') {
            at = json_object(at);
        } else {
            const char *from = at += *at == '-';
            while (isdigit((unsigned char)*at) || (*at == '.' && at > from)) at++;
            CHECK(at > from);
        }
    } while (*at == ',');
    CHECK(*at == '}');
    return at + 1;
}
static inline const char *value_of(const char *text, const char *key) {
    char with_marks[32];
    snprintf(with_marks, sizeof with_marks, "\"%s\":", key);
    const char *at = strstr(text, with_marks);
    return at ? at + strlen(with_marks) : NULL;
}
static inline long number_of(const char *text, const char *key) {
    const char *at = value_of(text, key);
    return at ? atol(at) : -1000;
}
/* As it stands, escapes included. */
static inline void text_of(const char *text, const char *key, char *to, size_t size) {
    const char *at = value_of(text, key);
    snprintf(to, size, "%.*s", at ? (int)(json_string(at) - at - 2) : 0, at ? at + 1 : "");
}
static inline void read_line(const char *text) {
    CHECK(line_count < MOST_LINES);
    line *to = &lines[line_count++];
    CHECK_IS(strcmp(json_object(text), ",\n"), 0);
    char ph[8];
    text_of(text, "ph", ph, sizeof ph);
    CHECK_IS(strlen(ph), 1);
    to->ph = ph[0];
    text_of(text, "cat", to->cat, sizeof to->cat);
    text_of(text, "name", to->name, sizeof to->name);
    text_of(text, "once", to->once, sizeof to->once);
    text_of(text, "site", to->site, sizeof to->site);
    text_of(text, "caller", to->caller, sizeof to->caller);
    to->pid = number_of(text, "pid");
    to->tid = number_of(text, "tid");
    to->status = number_of(text, "status");
    to->number = number_of(text, "number");
    char *dot = NULL;
    to->ts_ns = strtoll(value_of(text, "ts"), &dot, 10) * 1000;
    CHECK(*dot == '.');
    to->ts_ns += strtol(dot + 1, NULL, 10);
}
static inline void trace_read(const char *path) {
    FILE *file = fopen(path, "r");
    char text[2048];
    CHECK(file != NULL);
    line_count = 0;
    CHECK(fgets(text, sizeof text, file) && !strcmp(text, "[\n"));
    CHECK(fgets(text, sizeof text, file)); /* who has begun the file */
    CHECK_IS(strcmp(json_object(text), ",\n"), 0);
    CHECK_HAS(text, "\"ph\":\"M\"");
    CHECK(number_of(text, "started") > 0);
    while (fgets(text, sizeof text, file)) read_line(text);
    fclose(file);
}
static inline int count_lines(char ph, const char *cat) {
    int count = 0;
    for (int i = 0; i < line_count; i++) count += lines[i].ph == ph && !strcmp(lines[i].cat, cat);
    return count;
}
#define CHECK_LINES(cat, begun, ended) (CHECK_IS(count_lines('B', cat), begun), CHECK_IS(count_lines('E', cat), ended))

/* Of each thread: an end belongs to the latest open beginning, time never runs backwards, and so many are left open. */
static inline void check_lines_of(long pid, long tid, int left_open) {
    const line *open[32];
    int depth = 0;
    long long latest = 0;
    for (int i = 0; i < line_count; i++) {
        if (lines[i].pid != pid || lines[i].tid != tid) continue;
        CHECK(lines[i].ts_ns >= latest);
        latest = lines[i].ts_ns;
        if (lines[i].ph == 'B') {
            CHECK(depth < 32);
            open[depth++] = &lines[i];
        } else if (lines[i].ph == 'E') {
            CHECK(depth > 0);
            CHECK_IS(strcmp(open[--depth]->cat, lines[i].cat), 0);
        }
    }
    CHECK_IS(depth, left_open);
}
static inline void check_lines(int left_open) {
    for (int i = 0; i < line_count; i++) check_lines_of(lines[i].pid, lines[i].tid, left_open);
}
#endif
