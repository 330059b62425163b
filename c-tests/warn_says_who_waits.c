// not-under: valgrind: the program that it starts once more would be valgrind itself
// flags: -fexceptions
// Guards against a wait that goes on for ever without a word: when it has lasted as long as LAZYONCE_WARN_AFTER says, and not before, one
// line says which thread waits for what, for whom and since when; of every kind of wait, with a host and without. So does
// one for a thread that is stuck in the host's lock or inside prepare, which another thread writes that sleeps, or itself when it goes on.
#include "warned.h"
#include "big_lock.h"
#include <sys/ioctl.h>
#include <time.h>

enum { LIMIT_MS = 300 };
static lazy_once once = LAZY_ONCE_INIT;
static hold inside = HOLD_INIT;
static big_lock lock;
static uint64_t ticket;

static long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}
/* How much this program has written to stderr. */
static int written(void) {
    int size = -1;
    CHECK_IS(ioctl(2, FIONREAD, &size), 0);
    return size;
}
static int32_t lets_go_and_stays(void *ctx) {
    int depth = *big_depth(&lock);
    if (depth) big_let_go(&lock);
    held(ctx);
    if (depth) big_take_back(&lock, depth);
    return 0;
}
static lazy_status cancels(void *arg) {
    return lazy_once_cancel((lazy_once *)arg, ticket);
}
static void drops(void *ctx) { held(ctx); }
static int32_t fails(void *ctx) {
    (void)ctx;
    return 1;
}
static void describes(void *ctx, char *buffer, size_t size) {
    held(ctx);
    snprintf(buffer, size, "described");
}
static int32_t create(void *ctx, uint32_t index, void **value) {
    (void)index;
    *value = ctx;
    return held(ctx);
}
static const lazy_slot_config slot_config = { .size = sizeof(lazy_slot_config), .name = "the slot", .ctx = &inside, .create = create,
                                              .scope = LAZY_SLOT_PROCESS };
static lazy_slot slot = LAZY_SLOT_INIT(&slot_config);
static lazy_status gets(void *arg) {
    void *value = NULL;
    return lazy_slot_get((lazy_slot *)arg, 7, &value);
}
static void stays(void *ctx, const lazy_event *event) {
    (void)event;
    if (atomic_load(&inside.runs) == 0) held(ctx);
}
static lazy_status removes(void *arg) {
    (void)arg;
    return lazy_set_observer(NULL);
}

static int32_t prepares(void *ctx) { return held(ctx); }
static lazy_once stuck = LAZY_ONCE_INIT;
static hold in_prepare = HOLD_INIT;
static lazy_status stuck_in_init(void *arg) {
    (void)arg;
    return LAZY_INIT(&stuck);
}
/* A thread is stuck where it cannot warn; one that waits for another once does it, at the right time. */
static int work_stuck(const char *mode) {
    lazy_config config = LAZY_CONFIG_INIT;
    bool in_lock = strstr(mode, "lock") != NULL;
    config.name = "the stuck one";
    big_begin(&lock, 0, "the big lock");
    if (in_lock) config.host = &lock.host;
    else config.prepare = prepares, config.ctx = &in_prepare;
    CHECK_IS(lazy_once_configure(&stuck, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, held, &inside), LAZY_QUEUED);
    caller owner, waiter, late;
    if (!strstr(mode, "alone")) {
        begin(&owner, in_init, &once);
        gate_wait(&inside.inside);
        begin(&waiter, in_init, &once);
        until_waiting(&waiter);
        while (written() == 0) sched_yield(); /* of itself: what is stuck now began when it was asleep */
    }
    int size = written();
    if (in_lock) big_take(&lock);
    long began = now_ms();
    begin(&late, stuck_in_init, NULL);
    until_waiting(&late);
    if (strstr(mode, "alone")) {
        began = now_ms(); /* it is in there */
        while (now_ms() - began <= LIMIT_MS) sched_yield();
    } else {
        while (written() == size) sched_yield();
        CHECK(now_ms() - began >= LIMIT_MS);
    }
    fprintf(stderr, "|%d 0|", atomic_load(&late.id));
    if (in_lock) big_give(&lock);
    gate_open(&in_prepare.go);
    CHECK_IS(ended(&late), LAZY_OK);
    gate_open(&inside.go);
    if (!strstr(mode, "alone")) {
        CHECK_IS(ended(&owner), LAZY_OK);
        CHECK_IS(ended(&waiter), LAZY_OK);
    }
    return 0;
}
static void check_stuck(const char *mode, const char *what) {
    warned(mode, "0.3");
    int late = 0, unused;
    char text[64];
    CHECK_IS(warning_count("lazyonce: "), strstr(mode, "alone") ? 1 : 2);
    CHECK_IS(sscanf(strchr(warnings, '|'), "|%d %d|", &late, &unused), 2);
    snprintf(text, sizeof text, ": thread %d has ", late);
    CHECK_HAS(warnings, text);
    CHECK_HAS(strstr(warnings, text), what);
    CHECK_HAS(strstr(warnings, text), "once \"the stuck one\" at 0x");
    CHECK_HAS(strstr(warnings, text), "warn_says_who_waits.c:");
}

/* One thread stays inside until two lines have been written for the two that wait; then all go on. */
static int work(const char *mode) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "the slow one";
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    big_begin(&lock, 0, "the big lock");
    if (!strcmp(mode, "host")) CHECK_IS(lazy_set_host(&lock.host), LAZY_OK);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = lets_go_and_stays;
    request.ctx = &inside;
    request.site = LAZY_HERE;
    if (strstr(mode, "drop")) request.fn = nothing, request.drop = drops;
    if (strstr(mode, "describe")) request.fn = fails, request.describe = describes;
    ticket = queue_request(&once, request);
    lazy_status (*call)(void *) = strstr(mode, "cancel") ? cancels : !strcmp(mode, "slot") ? gets : in_init;
    void *arg = call == gets ? (void *)&slot : (void *)&once;
    if (!strcmp(mode, "observer")) {
        lazy_observer observer = { sizeof observer, &inside, stays };
        CHECK_IS(lazy_set_observer(&observer), LAZY_OK);
        call = removes;
    }
    caller owner, waiter;
    begin(&owner, call == gets ? gets : in_init, arg);
    gate_wait(&inside.inside);
    long began = now_ms();
    begin(&waiter, call, arg);
    until_waiting(&waiter);
    if (strcmp(mode, "briefly")) {
        int size;
        while ((size = written()) == 0) sched_yield();
        CHECK(now_ms() - began >= LIMIT_MS); /* not before its time */
        until_waiting(&waiter);
        CHECK_IS(written(), size); /* once: it sleeps without a limit now */
        if (!strcmp(mode, "host")) { /* also when it wakes for another reason */
            CHECK_IS(big_interrupt(&lock, 0, 0), 1);
            until_waiting(&waiter);
            CHECK_IS(written(), size);
        }
    }
    fprintf(stderr, "|%d %d|", atomic_load(&waiter.id), atomic_load(&owner.id));
    gate_open(&inside.go);
    lazy_status result = strstr(mode, "describe") ? LAZY_E_DEFERRED : LAZY_OK;
    CHECK_IS(ended(&owner), result);
    CHECK_IS(ended(&waiter), call == cancels ? LAZY_E_NOT_FOUND : result);
    CHECK_IS(lazy_set_host(NULL), LAZY_OK);
    return 0;
}
static void check_one_line(const char *mode, const char *what, const char *whom) {
    warned(mode, "0.3");
    int waiter = 0, owner = 0;
    char text[64];
    CHECK_IS(warning_count("lazyonce: "), 1);
    CHECK_IS(warning_count("\n"), 1);
    CHECK_IS(sscanf(strchr(warnings, '|'), "|%d %d|", &waiter, &owner), 2);
    snprintf(text, sizeof text, "thread %d has waited ", waiter);
    CHECK_HAS(warnings, text);
    CHECK(atof(strstr(warnings, text) + strlen(text)) * 1000 >= LIMIT_MS);
    CHECK_HAS(warnings, what);
    CHECK_HAS(warnings, whom);
    snprintf(text, sizeof text, "thread %d ", owner);
    CHECK_HAS(warnings, text);
}

int main(int count, char **arguments) {
    if (count > 1) return strstr(arguments[1], "stuck") ? work_stuck(arguments[1]) : work(arguments[1]);
    static const char site[] = "warn_says_who_waits.c:";
    check_one_line("init", "once \"the slow one\", called at ", "draining: it runs a callback queued by");
    CHECK_HAS(warnings, site);
    CHECK_HAS(warnings, "attempt 1, started ");
    CHECK_HAS(warnings, "no initializer");
    check_one_line("host", "once \"the slow one\", called at ", site);
    check_one_line("cancel", "once \"the slow one\", called at ", site);
    check_one_line("drop", "once \"the slow one\", called at ", "it is inside the drop of a request queued by ");
    check_one_line("describe", "once \"the slow one\", called at ", "it is inside the describe of a request queued by ");
    check_one_line("cancel a drop", "once \"the slow one\", called at ", " is inside the drop of a request queued by ");
    check_one_line("cancel a describe", "once \"the slow one\", called at ", " is inside the describe of a request queued by ");
    check_one_line("slot", "slot \"the slot\", called at ", "runs the factory, index 7 (started ");
    CHECK_HAS(strstr(warnings, "runs the factory"), " s ago at ");
    check_one_line("observer", "observer, called at ", " is inside its on_event (called ");
    check_stuck("stuck in the lock", " for the lock of the host \"the big lock\", on its way into ");
    check_stuck("stuck in prepare", "been inside prepare of ");
    check_stuck("stuck in the lock, alone", " for the lock of the host \"the big lock\", on its way into ");
    check_stuck("stuck in prepare, alone", "been inside prepare of ");
    warned("briefly", "30");
    CHECK_IS(warning_count("lazyonce: "), 0);
    static const char *const off[] = { "", "0", "0.0", "99999999999999999999999999" };
    for (int i = 0; i < 4; i++) {
        warned("briefly", off[i]);
        CHECK_IS(warning_count("lazyonce: "), 0);
    }
    static const char *const wrong[] = { "soon", "-1", "1s", ".", "1.2.3" };
    for (int i = 0; i < 5; i++) {
        warned("briefly", wrong[i]);
        CHECK_IS(warning_count("LAZYONCE_WARN_AFTER"), 1);
    }
    return finish();
}
