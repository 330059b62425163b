// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// not-under: tsan asan: the allocator of the tool is not made usable again in a child without fork handlers
// Guards against a child of _Fork or of a bare clone, where no fork handler runs, that waits for a thread it does not have:
// whichever function comes first, it finds the attempt of another thread as a child of fork does, under every policy; and
// what this thread itself is at goes on under KEEP and is void otherwise.
#include "callers.h"
#include "raw_fork.h"
#include "requests.h"

enum { INITIALIZES, DRAINS, PHASES };
static lazy_once once;
static hold stopped;
static atomic_int is_child, is_own, starts;
static uint32_t policy;
static int phase;
static raw_way way;
static uint64_t ticket;

static void ask_all(void);
static int32_t stop_here(int here) {
    if (atomic_load(&is_child) || here != phase) return 0;
    if (!atomic_load(&is_own)) return held(&stopped);
    ask_all();
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&starts, 1);
    return stop_here(INITIALIZES);
}
static int32_t first(void *ctx) { return note('a'), stop_here(DRAINS) + (ctx != NULL); }
static int32_t second(void *ctx) { return note('b'), ctx != NULL; }

typedef lazy_status (*asked)(void);
static lazy_status init(void) { return lazy_once_init(&once); }
static lazy_status try_init(void) { return lazy_once_init_timeout(&once, 0); }
static lazy_status run(void) { return lazy_once_run(&once, initialize, NULL); }
static lazy_status call(void) { return lazy_once_call(&once, second, NULL); }
static lazy_status submit(void) { return LAZY_CALL(&once, second, NULL); }
static lazy_status cancel(void) { return lazy_once_cancel(&once, ticket); }
static lazy_status reset(void) { return lazy_once_reset(&once); }
static lazy_status close_it(void) { return lazy_once_close(&once); }
static lazy_status look(void) {
    lazy_info info = info_of(&once);
    CHECK_IS(info.waiters, 0);
    CHECK_IS(lazy_once_is_initializing(&once), info.owner_thread != 0);
    CHECK_IS(lazy_dump(open("/dev/null", O_WRONLY)), LAZY_OK);
    return (lazy_status)info.phase;
}
#define LATER LAZY_IN_PROGRESS
static const struct ask { const char *what; asked ask; lazy_status fresh, forked, initializing, draining; } asks[] = {
    { "init", init,          LAZY_OK,     LAZY_E_FORKED, LATER,       LATER },
    { "init_timeout", try_init, LAZY_OK,  LAZY_E_FORKED, LATER,       LATER },
    { "run", run,            LAZY_OK,     LAZY_E_FORKED, LATER,       LATER },
    { "call", call,          LAZY_QUEUED, LAZY_E_FORKED, LAZY_QUEUED, LAZY_OK },
    { "submit", submit,      LAZY_QUEUED, LAZY_E_FORKED, LAZY_QUEUED, LAZY_OK },
    { "cancel", cancel,      LAZY_OK,     LAZY_OK,       LAZY_OK,     LAZY_OK },
    { "reset", reset,        LAZY_OK,     LAZY_OK,       LATER,       LATER },
    { "close", close_it,     LAZY_OK,     LAZY_OK,       LAZY_OK,     LAZY_OK },
    { "info", look,          LAZY_FRESH,  LAZY_FORKED,   LAZY_INITIALIZING, LAZY_DRAINING },
};
static const struct ask *current;

static void child(void) {
    int goes_on = atomic_load(&is_own) && policy == LAZY_FORK_KEEP;
    lazy_status wanted = goes_on ? (phase == DRAINS ? current->draining : current->initializing)
                         : policy == LAZY_FORK_POISON ? current->forked : current->fresh;
    atomic_store(&is_child, 1);
    lazy_status status = current->ask();
    if (status != wanted) {
        fprintf(stderr, "%s, policy %u, phase %d, own %d, way %d: %d, not %d\n", current->what, policy, phase,
                atomic_load(&is_own), way, status, wanted);
        _exit(1);
    }
    if (current->ask == close_it || goes_on) return;
    lazy_once_reset(&once);
    CHECK_IS(lazy_once_init(&once), LAZY_OK); /* and it works from here on */
    CHECK_IS(info_of(&once).init_pid, getpid());
}
static void ask_all(void) {
    for (current = asks; current < asks + sizeof asks / sizeof *asks; current++) in_raw_child(way, child);
}
static void make_children(void) {
    caller owner;
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request last = LAZY_REQUEST_INIT;
    config.name = "raw";
    config.initialize = initialize;
    config.on_fork = policy;
    once = (lazy_once)LAZY_ONCE_INIT;
    stopped = (hold)HOLD_INIT;
    last.fn = second;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, first, NULL), LAZY_QUEUED);
    ticket = queue_request(&once, last);
    begin(&owner, in_init, &once);
    if (!atomic_load(&is_own)) {
        gate_wait(&stopped.inside);
        ask_all();
        gate_open(&stopped.go);
    }
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    memset(trail, 0, sizeof trail);
    trail_length = 0;
}

int main(void) {
    for (int w = 0; w < RAW_WAYS; w++)
        for (policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET && has_way((raw_way)w); policy++)
            for (phase = 0; phase < PHASES; phase++)
                for (int own = 0; own < 2; own++) {
                    way = (raw_way)w;
                    atomic_store(&is_own, own);
                    make_children();
                }
    return finish();
}
