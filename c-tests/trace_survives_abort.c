// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a trace that is lost, cut or no JSON when the process dies in the middle of a callback: what had begun is there, without
// an end.
#include "traced.h"
#include "callers.h"
#include <signal.h>

static lazy_once once = LAZY_ONCE_INIT;
static int32_t dies(void *ctx) {
    if (ctx == NULL) abort();
    kill(getpid(), SIGKILL);
    return 0;
}
static int work(const char *mode) {
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, dies, mode[0] == 'a' ? NULL : &once), LAZY_QUEUED);
    lazy_once_init(&once);
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1) return work(arguments[1]);
    trace_begin();
    static const char *const modes[] = { "abort", "kill" };
    static const int signals[] = { SIGABRT, SIGKILL };
    for (int i = 0; i < 2; i++) {
        int status = traced_status(traced_start(modes[i], "LAZYONCE_TRACE", trace_path("trace.json")));
        CHECK(WIFSIGNALED(status));
        CHECK_IS(WTERMSIG(status), signals[i]);
        trace_read(trace_path("trace.json"));
        CHECK_LINES("attempt", 1, 0);
        CHECK_LINES("request", 2, 1);
        check_lines(2);
    }
    trace_end("trace.json");
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
