// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a place in the source whose name breaks a line of the dump, of a warning or of a message, or steers a terminal; and against a
// can_init that the trace takes for a prepare.
#include "traced.h"
#include "callers.h"

static lazy_once once = LAZY_ONCE_INIT;
static hold inside = HOLD_INIT;

static void *initializes_it(void *ctx) {
    lazy_site odd = { "evil\nfile.c\x1b[2J", 7, "f\xe2\x80\xaeg" };
    CHECK_IS(lazy_once_init_slow(&once, &odd), LAZY_OK);
    return ctx;
}
static int work(void) {
    lazy_config config = { .size = sizeof config, .name = "odd", .initialize = nothing, .can_init = held, .ctx = &inside };
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    pthread_t owner = start(initializes_it, NULL);
    gate_wait(&inside.inside);
    CHECK_IS(lazy_dump(1), LAZY_OK);
    gate_open(&inside.go);
    join(owner);
    return 0;
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return work();
    char said[4096];
    int pipes[2], out = dup(1);
    CHECK_IS(pipe(pipes), 0);
    CHECK(dup2(pipes[1], 1) == 1);
    trace_begin();
    pid_t child = traced_start("work", "LAZYONCE_TRACE", trace_path("trace.json"));
    CHECK_IS(traced_status(child), 0);
    CHECK(dup2(out, 1) == 1);
    ssize_t size = read(pipes[0], said, sizeof said - 1);
    CHECK(size > 0);
    said[size] = 0;
    CHECK_HAS(said, "called at evil\\x0afile.c\\x1b[2J:7 (f\\u202eg)\n");
    CHECK(strchr(said, '\x1b') == NULL);
    trace_read(trace_path("trace.json"));
    int asked = 0;
    for (int i = 0; i < line_count; i++) asked += lines[i].ph == 'B' && !strcmp(lines[i].cat, "prepare") && !strcmp(lines[i].name, "ask can_init of once \\\"odd\\\"");
    CHECK_IS(asked, 1);
    trace_end("trace.json");
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
