// not-under: tsan asan valgrind: what a longjmp skips is not freed, and the tools follow the stack
// Guards against an attempt that a longjmp leaves behind: out of the initializer, a queued request, a request of its own and
// one run at once in the drain. The next call of any kind from a frame that is not deeper ends that attempt as failed and says
// LAZY_E_DEADLOCK; nobody waits for ever, the same call then works, and what was queued is still there.
#include "callers.h"
#include "requests.h"
#include <setjmp.h>

typedef enum place { INITIALIZER, PLAIN, REQUEST, RUN_AT_ONCE, PLACES } place;
static lazy_once once;
static jmp_buf outside;
static place leaves_from;
static int has_left;
static caller waiter;

static void leave(place here) {
    if (has_left || here != leaves_from) return;
    has_left = 1;
    begin(&waiter, in_init, &once);
    until_waiting(&waiter);
    longjmp(outside, 1);
}
static int32_t initialize(void *ctx) { return (void)ctx, leave(INITIALIZER), 0; }
static int32_t inner(void *ctx) { return (void)ctx, leave(RUN_AT_ONCE), 0; }
static int32_t plain(void *ctx) {
    (void)ctx;
    note('p');
    leave(PLAIN);
    if (leaves_from == RUN_AT_ONCE) CHECK_IS(lazy_once_call(&once, inner, NULL), LAZY_OK);
    return 0;
}
static int32_t own(void *ctx) { return (void)ctx, note('o'), leave(REQUEST), 0; }
static int32_t last(void *ctx) { return (void)ctx, note('l'), 0; }

/* Begins the attempt deeper than any of the calls that follow. */
__attribute__((noinline)) static void own_from_deeper(void) {
    volatile char frame[1024];
    frame[0] = 0;
    CHECK_IS(lazy_once_init(&once), frame[0]);
    CHECK(!"the callback was left");
}
typedef lazy_status (*asked)(void);
__attribute__((noinline)) static lazy_status init(void) { return lazy_once_init(&once); }
__attribute__((noinline)) static lazy_status run(void) { return lazy_once_run(&once, initialize, NULL); }
__attribute__((noinline)) static lazy_status try_init(void) { return lazy_once_init_timeout(&once, 0); }
__attribute__((noinline)) static lazy_status call(void) { return lazy_once_call(&once, last, NULL); }
__attribute__((noinline)) static lazy_status submit(void) { return LAZY_CALL(&once, last, NULL); }
static const struct ask { asked ask; lazy_status again; const char *added; } asks[] = {
    { init, LAZY_OK, "" },      { run, LAZY_OK, "" },           { try_init, LAZY_OK, "" },
    { call, LAZY_QUEUED, "l" }, { submit, LAZY_QUEUED, "l" },
};

static void leave_from(place from, const struct ask *ask) {
    static const char *const rests[PLACES] = { "pol", "pol", "ol", "pol" }; /* p has run, or is the one that was left */
    lazy_config config = { .size = sizeof config, .name = "left", .initialize = initialize };
    lazy_request request = LAZY_REQUEST_INIT;
    char wanted[16];
    once = (lazy_once)LAZY_ONCE_INIT;
    leaves_from = from;
    has_left = 0;
    request.fn = own;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, plain, NULL), LAZY_QUEUED);
    queue_request(&once, request);
    CHECK_IS(lazy_once_call(&once, last, NULL), LAZY_QUEUED);
    if (setjmp(outside) == 0) own_from_deeper();
    memset(trail, 0, sizeof trail);
    trail_length = 0;
    CHECK_IS(ask->ask(), LAZY_E_DEADLOCK);
    CHECK_HAS(lazy_last_error()->message, "left");
    CHECK_HAS(lazy_last_error()->message, "longjmp");
    CHECK(ended(&waiter) < 0);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(ask->ask(), ask->again);
    CHECK_IS(init(), LAZY_OK);
    snprintf(wanted, sizeof wanted, "%s%s", rests[from], ask->added);
    CHECK_TRAIL(wanted);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    for (int from = 0; from < PLACES; from++)
        for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) leave_from((place)from, &asks[i]);
    return finish();
}
