// Guards against a snapshot that is wrong or that waits: in every phase info tells who is inside, since when, for how
// many others, what is queued, which request runs and where it was made, and where the attempt began; also from inside.
#include "callers.h"
#include <time.h>

static hold start_up = HOLD_INIT, request = HOLD_INIT;
static atomic_int init_line;
static int32_t first_attempt_fails(void *ctx) {
    return atomic_load(&start_up.runs) == 0 ? (atomic_fetch_add(&start_up.runs, 1), 8) : held(ctx);
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "observed", .initialize = first_attempt_fails,
                                    .ctx = &start_up };
static lazy_once once = LAZY_ONCE_INIT;

static lazy_status initialize_here(void *ctx) {
    (void)ctx;
    atomic_store(&init_line, __LINE__ + 1);
    return LAZY_INIT(&once);
}
static bool is_no_site(lazy_site site) { return site.file == NULL && site.line == 0 && site.function == NULL; }
static void check_site(lazy_site site, int line, const char *function) {
    CHECK_HAS(site.file, "gate_info_in_every_phase.c");
    CHECK_IS(site.line, line);
    CHECK(!strcmp(site.function, function));
}
static void check(lazy_info info, uint32_t phase, uint32_t attempts, uint64_t owner, uint64_t since) {
    CHECK(!strcmp(info.name, "observed"));
    CHECK_IS(info.phase, phase);
    CHECK_IS(info.attempts, attempts);
    CHECK_IS(info.generation, 0);
    CHECK_IS(info.waiters, 0);
    if (phase == LAZY_INITIALIZING || phase == LAZY_DRAINING || phase == LAZY_FRESH) CHECK_IS(info.owner_thread, owner);
    CHECK(info.since_ns >= since && info.since_ns <= now_ns());
    if (phase != LAZY_READY) CHECK_IS(info.init_ns, 0);
    if (phase != LAZY_DRAINING) CHECK(is_no_site(info.running));
}
static int32_t looks_from_inside(void *ctx) {
    (void)ctx;
    CHECK_IS(info_of(&once).phase, LAZY_DRAINING);
    CHECK_IS(info_of(&once).owner_thread, thread_id());
    return 0;
}

int main(void) {
    caller owner;
    uint64_t begun = now_ns();
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    int line = __LINE__ + 1;
    CHECK_IS(LAZY_CALL(&once, held, &request), LAZY_QUEUED);
    for (int i = 0; i < 6; i++) CHECK_IS(LAZY_CALL(&once, looks_from_inside, NULL), LAZY_QUEUED);
    check(info_of(&once), LAZY_FRESH, 0, 0, 0);
    CHECK_IS(info_of(&once).queued, 7);
    CHECK(is_no_site(info_of(&once).init_site));
    CHECK_IS(info_of(&once).init_pid, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_E_INIT);
    check(info_of(&once), LAZY_FRESH, 1, 0, begun);
    CHECK_IS(info_of(&once).queued, 7);

    uint64_t started = now_ns();
    begin(&owner, initialize_here, NULL);
    gate_wait(&start_up.inside);
    uint64_t id = (uint64_t)atomic_load(&owner.id);
    check(info_of(&once), LAZY_INITIALIZING, 2, id, started);
    check_site(info_of(&once).init_site, atomic_load(&init_line), "initialize_here");
    CHECK_IS(info_of(&once).queued, 7);
    uint64_t let_go = now_ns();
    gate_open(&start_up.go);
    gate_wait(&request.inside);
    check(info_of(&once), LAZY_DRAINING, 2, id, let_go);
    check_site(info_of(&once).running, line, "main");
    check_site(info_of(&once).init_site, atomic_load(&init_line), "initialize_here");
    CHECK(info_of(&once).queued == 6 || info_of(&once).queued == 7); /* with or without the one that runs */
    gate_open(&request.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    uint64_t all = now_ns() - started;
    lazy_info info = info_of(&once);
    check(info, LAZY_READY, 2, 0, let_go);
    CHECK_IS(info.queued, 0);
    CHECK(info.init_ns > 0 && info.init_ns <= all);
    CHECK_IS(info.init_pid, getpid());
    check_site(info.init_site, atomic_load(&init_line), "initialize_here");

    static lazy_once sticky;
    lazy_config failing = config;
    uint64_t before = now_ns();
    failing.on_failure = LAZY_FAIL_STICKY;
    atomic_store(&start_up.runs, 0);
    CHECK_IS(lazy_once_configure(&sticky, &failing), LAZY_OK);
    CHECK_IS(lazy_once_init(&sticky), LAZY_E_INIT);
    check(info_of(&sticky), LAZY_FAILED, 1, 0, before);
    CHECK_IS(info_of(&sticky).init_pid, 0);
    CHECK_IS(lazy_once_close(&sticky), LAZY_OK);
    CHECK_IS(info_of(&sticky).phase, LAZY_CLOSED);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_IS(info_of(&once).phase, LAZY_CLOSED);
    return finish();
}
