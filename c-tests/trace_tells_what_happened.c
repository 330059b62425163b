// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a trace that misses an attempt, a callback or a wait, mixes the lines of threads, or is no JSON where a name has quotation
// marks in it.
#include "traced.h"
#include "callers.h"

enum { THREADS = 8, ONCES = 50, LINE = 4711 };
static const char name[] = "a \"name\"\\ \n\x01\xff of its own";
static const char escaped[] = "a \\\"name\\\"\\\\ \\u000a\\u0001\xef\xbf\xbd of its own";

static void *makes_many(void *arg) {
    lazy_once onces[ONCES];
    memset(onces, 0, sizeof onces);
    for (int i = 0; i < ONCES; i++) {
        CHECK_IS(lazy_once_call(&onces[i], nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&onces[i]), LAZY_OK);
    }
    return arg;
}
static int work(void) {
    static lazy_once once = LAZY_ONCE_INIT;
    static stop stopped = STOP_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = name;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = run_stop;
    request.ctx = &stopped;
    request.site.file = "a file";
    request.site.line = LINE;
    request.site.function = "a function";
    queue_request(&once, request);
    caller owner, waiter;
    stopped.result = 5;
    begin(&owner, in_init, &once);
    gate_wait(&stopped.reached);
    begin(&waiter, in_init, &once);
    until_waiting(&waiter);
    gate_open(&stopped.go_on);
    CHECK_IS(ended(&owner), LAZY_E_DEFERRED);
    CHECK_IS(ended(&waiter), LAZY_E_DEFERRED);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(makes_many, NULL);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    return 0;
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return work();
    trace_begin();
    pid_t child = traced_start("work", "LAZYONCE_TRACE", trace_path("trace.json"));
    CHECK_IS(traced_status(child), 0);
    trace_read(trace_path("trace.json"));
    CHECK_LINES("attempt", THREADS * ONCES + 1, THREADS * ONCES + 1);
    CHECK_LINES("request", THREADS * ONCES + 1, THREADS * ONCES + 1);
    CHECK_LINES("wait", 1, 1);
    CHECK_IS(line_count, 4 * (THREADS * ONCES + 1) + 2);
    check_lines(0);
    int named = 0;
    for (int i = 0; i < line_count; i++) {
        CHECK_IS(lines[i].pid, child);
        if (lines[i].ph != 'B' || strcmp(lines[i].once, escaped)) continue;
        named++;
        if (!strcmp(lines[i].cat, "request")) CHECK_IS(strcmp(lines[i].site, "a file:4711 (a function)"), 0);
        else CHECK_HAS(lines[i].name, escaped);
        if (!strcmp(lines[i].cat, "wait")) CHECK_HAS(lines[i].caller, "traced+0x");
        else CHECK_IS(lines[i].caller[0], 0);
    }
    CHECK_IS(named, 3);
    int failed = 0;
    for (int i = 0; i < line_count; i++) failed += lines[i].ph == 'E' && lines[i].status == LAZY_E_DEFERRED;
    CHECK_IS(failed, 3);
    trace_end("trace.json");
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
