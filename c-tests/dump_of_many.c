// not-under: tsan asan valgrind: hundreds of threads, and tools that follow the stack
// Guards against a dump that has no room left for what matters: with more threads that wait than it has lines for, the one that hangs inside a
// drop is told, and how many others are not; with a callback that calls itself for ever, those that wait for it. And against lines about
// what a longjmp, which is forbidden, has left, when its thread has ended.
#include "dumped.h"
#include "callers.h"
#include "requests.h"
#include <setjmp.h>

enum { WAITERS = 300, LINES = 256 };
static lazy_once once = LAZY_ONCE_INIT;
static hold running = HOLD_INIT, dropping = HOLD_INIT;
static caller owner, waiters[WAITERS];

static void drops(void *ctx) {
    (void)ctx;
    held(&dropping);
}
static lazy_once deep = LAZY_ONCE_INIT;
static hold deepest = HOLD_INIT;
static int depth;
static int32_t recurses(void *ctx) {
    if (++depth == WAITERS) return held(ctx);
    return lazy_once_call(&deep, recurses, ctx) == LAZY_OK ? 0 : -1;
}
static void check_recursion(void) {
    caller recursing, waiting;
    CHECK_IS(lazy_once_call(&deep, recurses, &deepest), LAZY_QUEUED);
    begin(&recursing, in_init, &deep);
    gate_wait(&deepest.inside);
    begin(&waiting, in_init, &deep);
    until_waiting(&waiting);
    char *text = dumped();
    CHECK_IS(occurrences(text, " has been inside a callback of "), 16);
    CHECK_IS(occurrences(text, " has waited "), 1);
    CHECK(strstr(text, "and so on") == NULL);
    free(text);
    gate_open(&deepest.go);
    CHECK_IS(ended(&recursing), LAZY_OK);
    CHECK_IS(ended(&waiting), LAZY_OK);
}
static lazy_once awaited = LAZY_ONCE_INIT;
static hold initializing = HOLD_INIT;
static jmp_buf outside;
static int32_t leaves(void *ctx) {
    (void)ctx;
    longjmp(outside, 1);
}
static void *calls_and_leaves(void *ctx) {
    if (setjmp(outside) == 0) lazy_once_call(&awaited, leaves, NULL);
    return ctx;
}
static void check_left(void) {
    caller owner;
    lazy_config config = LAZY_CONFIG_INIT;
    config.initialize = held;
    config.ctx = &initializing;
    CHECK_IS(lazy_once_configure(&awaited, &config), LAZY_OK);
    begin(&owner, in_init, &awaited);
    gate_wait(&initializing.inside);
    pthread_t late = start(calls_and_leaves, NULL);
    for (lazy_info info = LAZY_INFO_INIT; info.waiters == 0;) CHECK_IS(lazy_once_info(&awaited, &info), LAZY_OK);
    gate_open(&initializing.go);
    join(late);
    CHECK_IS(ended(&owner), LAZY_OK);
    char *text = dumped();
    CHECK(strstr(text, " has been inside ") == NULL);
    free(text);
    CHECK_IS(lazy_once_close(&awaited), LAZY_OK);
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
    CHECK_IS(occurrences(text, " has been inside the drop of a request of "), 1);
    CHECK_IS(occurrences(text, " has waited "), LINES);
    CHECK_HAS(text, "and so on: 44 more, ");
    free(text);
    gate_open(&dropping.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    for (int i = 0; i < WAITERS; i++) CHECK_IS(ended(&waiters[i]), LAZY_OK);
    check_recursion();
    check_left();
    return finish();
}
