/* What a forked child is answered: the situations in which a process forks, and every function, each asked in a child of its
   own. A program names its policy and says in one row for each situation what the child finds. For C11. */
#ifndef FORK_ANSWERS_H
#define FORK_ANSWERS_H
#include "callers.h"
#include "forked_child.h"
#include "requests.h"
#include <time.h>

/* Where a callback of the parent stops, or forks. */
typedef enum place { NOWHERE, IN_PREPARE, IN_CAN_INIT, IN_INITIALIZER, IN_REQUEST, IN_DROP } place;
/* What a child finds; the columns of `asks`. */
typedef enum finds { FRESH, READY, INITIALIZING, DRAINING, FORKED, FAILED, CLOSED, STATES } finds;

typedef struct situation {
    const char *what;
    place stops; /* another thread is held there while main forks */
    place forks; /* main forks there itself */
    place fails; /* there an attempt fails, once */
    lazy_status init; /* what main's own init comes to before it forks; NO_INIT if it makes none */
    lazy_status (*then)(lazy_once *once);
    uint32_t on_failure;
    int waited, lends; /* another thread waits for the attempt; a holder of its permit forks */
    finds finds;
    const char *left; /* in the order in which they run: i for the initializer, then what is queued */
} situation;
enum { NO_INIT = 1000, AS_MANY_AS_QUEUED = 1001, OK_IF_QUEUED = 1002, NOT_ASKED = 1003 };

static const situation *now;
static uint32_t policy;
static lazy_once once;
static lazy_permit permit;
static gate inside, go;
static atomic_int is_child, has_failed;
static int owner_tag;
static uint64_t last_ticket;
static pid_t parent;

static caller waiter;

static void ask_children(void);
static void begin_waiter(void) {
    if (!now->waited) return;
    begin(&waiter, in_init, &once);
    until_waiting(&waiter);
}
static int32_t come_to(place here) {
    if (atomic_load(&is_child)) return 0;
    if (now->forks == here) {
        begin_waiter();
        ask_children();
    }
    if (now->stops == here) {
        gate_open(&inside);
        gate_wait(&go);
    }
    return now->fails == here && !atomic_exchange(&has_failed, 1);
}
static void *lent(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    ask_children();
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return NULL;
}
static int32_t prepare(void *ctx) { (void)ctx; return come_to(IN_PREPARE); }
static int32_t can_init(void *ctx) { (void)ctx; return come_to(IN_CAN_INIT); }
static int32_t initialize(void *ctx) {
    (void)ctx;
    note('i');
    if (!atomic_load(&is_child)) CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    if (now->lends && !atomic_load(&is_child)) join(start(lent, NULL));
    return come_to(IN_INITIALIZER);
}
static int32_t request(void *letter) {
    note(*(const char *)letter);
    return *(const char *)letter == 'b' ? come_to(IN_REQUEST) : 0;
}
static void drop(void *letter) {
    if (*(const char *)letter == 'b') come_to(IN_DROP);
}
static lazy_config config_of(const char *name) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = name;
    config.prepare = prepare;
    config.can_init = can_init;
    config.initialize = initialize;
    config.on_fork = policy;
    config.on_failure = now->on_failure;
    return config;
}
static lazy_status submit(const char *letter, uint32_t flags) {
    lazy_request asked = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    asked.fn = request;
    asked.ctx = (void *)(uintptr_t)letter;
    asked.drop = drop;
    asked.owner = &owner_tag;
    asked.flags = flags;
    lazy_status status = lazy_once_submit(&once, &asked, &receipt);
    if (status == LAZY_QUEUED) last_ticket = receipt.ticket;
    return status;
}
static const char *queued(void) { return now->left + (now->left[0] == 'i'); }

/* The child initializes, and everything that was left runs, once, in order. */
static void check_rest(const char *with_initializer) {
    char wanted[16];
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    snprintf(wanted, sizeof wanted, "%s%s", with_initializer, queued());
    CHECK_TRAIL(wanted);
    CHECK(lazy_once_is_initialized(&once));
}
static long ask_init(void) { return lazy_once_init(&once); }
static long ask_init_and_rest(void) {
    if (now->finds != FRESH) return lazy_once_init(&once);
    check_rest(now->left[0] == 'i' ? "i" : "");
    return LAZY_OK;
}
static long ask_try(void) { return lazy_once_init_timeout(&once, 0); }
static long ask_run(void) { return lazy_once_run(&once, initialize, NULL); }
static long ask_call(void) { return lazy_once_call(&once, request, (void *)"x"); }
static long ask_submit(void) { return submit("x", 0); }
static long ask_submit_no_wait(void) { return submit("x", LAZY_REQUEST_NO_WAIT); }
static long ask_cancel(void) { return lazy_once_cancel(&once, last_ticket); }
static long ask_cancel_owner(void) { return (long)lazy_once_cancel_owner(&once, &owner_tag); }
static long ask_reset(void) {
    uint32_t generation = info_of(&once).generation;
    lazy_status status = lazy_once_reset(&once);
    if (status != LAZY_OK) return status;
    CHECK_IS(info_of(&once).phase, LAZY_FRESH);
    CHECK_IS(info_of(&once).generation, generation + 1);
    check_rest("i");
    return LAZY_OK;
}
static long ask_close(void) {
    lazy_status status = lazy_once_close(&once);
    CHECK_IS(lazy_once_init(&once), LAZY_E_CLOSED);
    CHECK_IS(info_of(&once).phase, LAZY_CLOSED);
    return status;
}
static long ask_phase(void) {
    int is_mine = now->finds == INITIALIZING || now->finds == DRAINING;
    lazy_info info = info_of(&once);
    CHECK_IS(info.waiters, 0);
    CHECK_IS(info.owner_thread, is_mine ? thread_id() : 0);
    return info.phase;
}
static long ask_queued(void) { return (long)info_of(&once).queued; }
static bool (*volatile exported_look)(const lazy_once *) = lazy_once_is_initialized;
static long ask_is_initialized(void) {
    CHECK_IS(lazy_once_is_initialized(&once), exported_look(&once));
    return exported_look(&once);
}
static long ask_is_initializing(void) { return lazy_once_is_initializing(&once); }
static long ask_configure_again(void) {
    lazy_config config = config_of("forked");
    return lazy_once_configure(&once, &config);
}
static long ask_configure(void) {
    lazy_config config = config_of("another");
    return lazy_once_configure(&once, &config);
}
static long ask_capture(void) {
    lazy_permit own;
    return lazy_permit_capture(&once, &own);
}
static long ask_enter(void) { return lazy_permit_enter(&permit); }
static long ask_dump(void) {
    int null = open("/dev/null", O_WRONLY);
    return lazy_dump(null);
}

#define LATER LAZY_IN_PROGRESS
#define MANY AS_MANY_AS_QUEUED
#define SOME OK_IF_QUEUED
static const struct ask { const char *what; long (*ask)(void); long answers[STATES]; } asks[] = {
    /*                                              FRESH           READY           INITIALIZING   DRAINING       FORKED          FAILED          CLOSED */
    { "init", ask_init_and_rest,                  { LAZY_OK,        LAZY_OK,        LATER,         LATER,         LAZY_E_FORKED,  LAZY_E_INIT,    LAZY_E_CLOSED } },
    { "init_timeout", ask_try,                    { LAZY_OK,        LAZY_OK,        LATER,         LATER,         LAZY_E_FORKED,  LAZY_E_INIT,    LAZY_E_CLOSED } },
    { "run", ask_run,                             { LAZY_OK,        LAZY_OK,        LATER,         LATER,         LAZY_E_FORKED,  LAZY_E_INIT,    LAZY_E_CLOSED } },
    { "call", ask_call,                           { LAZY_QUEUED,    LAZY_OK,        LAZY_QUEUED,   LAZY_OK,       LAZY_E_FORKED,  LAZY_E_INIT,    LAZY_E_CLOSED } },
    { "submit", ask_submit,                       { LAZY_QUEUED,    LAZY_OK,        LAZY_QUEUED,   LAZY_OK,       LAZY_E_FORKED,  LAZY_E_INIT,    LAZY_E_CLOSED } },
    { "submit NO_WAIT", ask_submit_no_wait,       { LAZY_QUEUED,    LAZY_OK,        LAZY_QUEUED,   LAZY_OK,       LAZY_E_FORKED,  LAZY_E_INIT,    LAZY_E_CLOSED } },
    { "cancel", ask_cancel,                       { SOME,           SOME,           SOME,          SOME,          SOME,           SOME,           SOME } },
    { "cancel_owner", ask_cancel_owner,           { MANY,           MANY,           MANY,          MANY,          MANY,           MANY,           MANY } },
    { "reset", ask_reset,                         { LAZY_OK,        LAZY_OK,        LATER,         LATER,         LAZY_OK,        LAZY_OK,        LAZY_E_CLOSED } },
    { "close", ask_close,                         { LAZY_OK,        LAZY_OK,        LAZY_OK,       LAZY_OK,       LAZY_OK,        LAZY_OK,        LAZY_OK } },
    { "info.phase", ask_phase,                    { LAZY_FRESH,     LAZY_READY,     LAZY_INITIALIZING, LAZY_DRAINING, LAZY_FORKED, LAZY_FAILED,   LAZY_CLOSED } },
    { "info.queued", ask_queued,                  { MANY,           MANY,           MANY,          MANY,          MANY,           MANY,           MANY } },
    { "is_initialized", ask_is_initialized,       { false,          true,           false,         false,         false,          false,          false } },
    { "is_initializing", ask_is_initializing,     { false,          false,          true,          true,          false,          false,          false } },
    { "configure, equal", ask_configure_again,    { LAZY_OK,        LAZY_OK,        LAZY_OK,       LAZY_OK,       LAZY_OK,        LAZY_OK,        LAZY_E_CLOSED } },
    { "configure, different", ask_configure,      { NOT_ASKED, LAZY_E_TOO_LATE, LAZY_E_TOO_LATE, LAZY_E_TOO_LATE, LAZY_E_TOO_LATE, LAZY_E_TOO_LATE, LAZY_E_CLOSED } },
    { "permit_capture", ask_capture,              { LAZY_E_INVALID, LAZY_E_INVALID, LAZY_OK,       LAZY_OK,       LAZY_E_INVALID, LAZY_E_INVALID, LAZY_E_INVALID } },
    { "permit_enter", ask_enter,                  { LAZY_E_NOT_FOUND, LAZY_E_NOT_FOUND, NOT_ASKED, NOT_ASKED, LAZY_E_NOT_FOUND, LAZY_E_NOT_FOUND, LAZY_E_NOT_FOUND } },
    { "dump", ask_dump,                           { LAZY_OK,        LAZY_OK,        LAZY_OK,       LAZY_OK,       LAZY_OK,        LAZY_OK,        LAZY_OK } },
};

static void check_error(long answer) {
    char number[16];
    if (answer != LAZY_E_FORKED) return;
    CHECK_IS(lazy_last_error()->status, LAZY_E_FORKED);
    CHECK_HAS(lazy_last_error()->message, "forked"); /* the name of the once */
    snprintf(number, sizeof number, "%d", (int)parent);
    CHECK_HAS(lazy_last_error()->message, number);
}
static void ask_child(const struct ask *ask) {
    struct timespec begin, end;
    long wanted = ask->answers[now->finds];
    alarm(20);
    atomic_store(&is_child, 1);
    memset(trail, 0, sizeof trail);
    trail_length = 0;
    if (wanted == AS_MANY_AS_QUEUED) wanted = (long)strlen(queued());
    if (wanted == OK_IF_QUEUED) wanted = *queued() ? LAZY_OK : LAZY_E_NOT_FOUND;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    long answer = ask->ask();
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (answer != wanted) {
        fprintf(stderr, "%s: %s in the child is %ld, not %ld\n", now->what, ask->what, answer, wanted);
        _exit(1);
    }
    check_error(answer);
    long ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
    if (ms > 1000) {
        fprintf(stderr, "%s: %s in the child took %ld ms\n", now->what, ask->what, ms);
        _exit(1);
    }
    _exit(0);
}
static int faults;
static void ask_children(void) {
    parent = getpid();
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        int status = 0;
        if (asks[i].answers[now->finds] == NOT_ASKED) continue;
        fflush(NULL);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) ask_child(&asks[i]);
        CHECK_IS(waitpid(child, &status, 0), child);
        if (status == 0) continue;
        fprintf(stderr, "%s: %s: the child ended with %#x\n", now->what, asks[i].what, (unsigned)status);
        ADD(faults, 1);
    }
}
static void be_in(const situation *given) {
    caller starter;
    lazy_config config;
    now = given;
    config = config_of("forked");
    once = (lazy_once)LAZY_ONCE_INIT;
    inside = go = (gate)GATE_INIT;
    memset(&permit, 0, sizeof permit);
    memset(trail, 0, sizeof trail);
    trail_length = last_ticket = 0;
    atomic_store(&has_failed, 0);
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    for (const char *letter = "a\0b\0c\0"; *letter; letter += 2) CHECK_IS(submit(letter, 0), LAZY_QUEUED);
    if (now->stops) {
        begin(&starter, in_init, &once);
        gate_wait(&inside);
        begin_waiter();
    }
    if (now->init != NO_INIT) CHECK_IS(ask_init(), now->init);
    if (now->then) CHECK_IS(now->then(&once), LAZY_OK);
    if (!now->forks && !now->lends) ask_children();
    if (now->stops) {
        gate_open(&go);
        CHECK_IS(ended(&starter), LAZY_OK);
    }
    if (now->waited) CHECK_IS(ended(&waiter), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}
static inline int be_in_all(uint32_t on_fork, const situation *rows) {
    policy = on_fork;
    for (; rows->what; rows++) be_in(rows);
    CHECK_IS(faults, 0);
    return finish();
}
#endif
