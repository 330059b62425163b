// not-under: asan: its marks on a stack are not taken back when a cancellation unwinds that, and it finds its own call there
// not-under: valgrind: the program that it starts once more would be valgrind itself
// flags: -fexceptions
// Guards against a trace, a warning or a dump whose writing is where a cancelled thread ends: it ends where it would without them.
#include "traced.h"
#include "callers.h"

static lazy_once once = LAZY_ONCE_INIT;
static hold inside = HOLD_INIT;
static int returned;

static void *waits_cancelled(void *id) {
    SET(*(int *)id, thread_id());
    pthread_cancel(pthread_self());
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_dump(2), LAZY_OK);
    SET(returned, 1);
    pthread_testcancel();
    return NULL;
}
static int work(void) {
    CHECK_IS(lazy_once_call(&once, held, &inside), LAZY_QUEUED);
    caller owner;
    begin(&owner, in_init, &once);
    gate_wait(&inside.inside);
    int id = 0;
    pthread_t waiter = start(waits_cancelled, &id);
    while (!COUNT(id)) sched_yield();
    char note[16];
    CHECK_IS(read(0, note, 1), 1); /* the warning has been written */
    until_asleep(COUNT(id));
    gate_open(&inside.go);
    CHECK(join(waiter) == PTHREAD_CANCELED);
    CHECK_IS(COUNT(returned), 1);
    CHECK_IS(ended(&owner), LAZY_OK);
    return 0;
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return work();
    int said[2], told[2];
    char text[4096];
    CHECK_IS(pipe(said), 0);
    CHECK_IS(pipe(told), 0);
    trace_begin();
    setenv("LAZYONCE_WARN_AFTER", "0.05", 1);
    int error = dup(2), input = dup(0);
    dup2(said[1], 2);
    dup2(told[0], 0);
    pid_t child = traced_start("work", "LAZYONCE_TRACE", trace_path("trace.json"));
    dup2(error, 2);
    dup2(input, 0);
    ssize_t size = read(said[0], text, sizeof text - 1);
    CHECK(size > 0);
    text[size] = 0;
    CHECK_HAS(text, "has waited");
    CHECK_IS(write(told[1], "!", 1), 1);
    CHECK_IS(traced_status(child), 0);
    trace_read(trace_path("trace.json"));
    CHECK_LINES("wait", 1, 1);
    check_lines(0);
    trace_end("trace.json");
    CHECK_IS(rmdir(trace_folder), 0);
    return finish();
}
