// not-under: valgrind: hundreds of threads, one at a time
// Guards against a dump that has no room left for what everybody waits for: with more threads that wait than it has lines for, the one that hangs
// inside a drop is told, and how many others are not.
#include "dumped.h"
#include "callers.h"
#include "requests.h"

enum { WAITERS = 300, LINES = 256 };
static lazy_once once = LAZY_ONCE_INIT;
static hold running = HOLD_INIT, dropping = HOLD_INIT;
static caller owner, waiters[WAITERS];

static void drops(void *ctx) {
    (void)ctx;
    held(&dropping);
}
static int lines_with(const char *text, const char *part) {
    int lines = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) lines++;
    return lines;
}

int main(void) {
    lazy_request request = { .size = sizeof request, .fn = held, .ctx = &running, .drop = drops, .site = LAZY_HERE };
    queue_request(&once, request);
    begin(&owner, in_init, &once);
    gate_wait(&running.inside);
    for (int i = 0; i < WAITERS; i++) begin(&waiters[i], in_init, &once);
    for (int i = 0; i < WAITERS; i++) until_waiting(&waiters[i]);
    gate_open(&running.go);
    gate_wait(&dropping.inside);
    char *text = dumped();
    CHECK_IS(lines_with(text, " has been inside the drop of a request of "), 1);
    CHECK_IS(lines_with(text, " has waited "), LINES);
    CHECK_HAS(text, "and so on: 44 more, ");
    free(text);
    gate_open(&dropping.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    for (int i = 0; i < WAITERS; i++) CHECK_IS(ended(&waiters[i]), LAZY_OK);
    return finish();
}
