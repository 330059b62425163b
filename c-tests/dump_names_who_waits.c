// flags: -fexceptions
// Guards against a dump that counts the threads that hang, or is silent about them: each that waits, for an attempt, to cancel, for a value or
// for the lock of a host, on the way in and back, and each inside a prepare, can_init, factory, destructor, share, drop, describe or on_event is there by its
// number, with how long, whose that is, and the line or function of its call; and in a forked child none of those that are gone.
#include "dumped.h"
#include "big_lock.h"
#include "callers.h"
#include "forked_child.h"

static big_lock lock;
static hold preparing = HOLD_INIT, asking = HOLD_INIT, initializing = HOLD_INIT, running = HOLD_INIT, making = HOLD_INIT, ending = HOLD_INIT;
static lazy_once early = LAZY_ONCE_INIT, slow = LAZY_ONCE_INIT, drained = LAZY_ONCE_INIT;
static uint64_t ticket;

static lazy_status at_line(void *once) { return LAZY_INIT((lazy_once *)once); }
enum { LINE = __LINE__ - 1 };
static int32_t lets_go_and_stays(void *ctx) {
    int depth = big_let_go(&lock);
    held(ctx);
    big_take_back(&lock, depth);
    return 0;
}
static lazy_status cancels(void *once) { return lazy_once_cancel((lazy_once *)once, ticket); }
static int32_t create(void *ctx, uint32_t index, void **value) {
    (void)index;
    *value = ctx;
    return held(&making);
}
static void destroy(void *ctx, uint32_t index, void *value) {
    (void)ctx, (void)index, (void)value;
    held(&ending);
}
static const lazy_slot_config devices_config = { .size = sizeof(lazy_slot_config), .name = "devices", .create = create, .destroy = destroy,
                                                 .scope = LAZY_SLOT_PROCESS };
static lazy_slot devices = LAZY_SLOT_INIT(&devices_config);
static lazy_status gets(void *slot) {
    void *value;
    return lazy_slot_get((lazy_slot *)slot, 7, &value);
}
static lazy_status retires(void *slot) { return lazy_slot_retire((lazy_slot *)slot); }

/* The line about that thread has both parts, and says where it was called. */
static void check_line(const caller *c, const char *what, const char *of) {
    char who[64], place[64], *text = dumped(), *line;
    snprintf(who, sizeof who, "thread %d has ", atomic_load(&c->id));
    line = line_about(text, who);
    CHECK_HAS(line, what);
    CHECK_HAS(line, " s");
    CHECK_HAS(line, of);
    snprintf(place, sizeof place, "dump_names_who_waits.c:%d (at_line)", LINE);
    CHECK_HAS(line, c->call == at_line ? place : ", called at ");
    CHECK(c->call == at_line || strstr(line, "lazyonce.so") == NULL); /* the caller's, not ours */
    free(line);
    free(text);
}
static void check_no_line(void) {
    char *text = dumped();
    CHECK(strstr(text, "\nthread ") == NULL);
    free(text);
}
/* Calls of the library inside prepare end none of this thread's, however deep they come from. */
static int32_t prepares(void *ctx) {
    volatile char deep[4096];
    lazy_info info = LAZY_INFO_INIT;
    deep[0] = 0;
    CHECK_IS(lazy_once_info(&slow, &info), LAZY_OK);
    CHECK(lazy_once_reset(&slow) == LAZY_OK && deep[0] == 0);
    return held(ctx);
}
static int32_t prepares_deep(void *ctx) {
    lazy_once other = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_init(&other), LAZY_OK);
    CHECK_IS(lazy_once_reset(&other), LAZY_OK);
    return prepares(ctx);
}
static void check_early(void) {
    caller c;
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "early";
    config.prepare = prepares_deep;
    config.can_init = NULL;
    config.ctx = &preparing;
    CHECK_IS(lazy_once_configure(&early, &config), LAZY_OK);
    begin(&c, at_line, &early);
    gate_wait(&preparing.inside);
    check_line(&c, "been inside prepare of ", "once \"early\" at 0x");
    gate_open(&preparing.go);
    CHECK_IS(ended(&c), LAZY_OK);
    CHECK_IS(lazy_once_reset(&early), LAZY_OK);
    config.prepare = NULL;
    config.can_init = held;
    config.ctx = &asking;
    CHECK_IS(lazy_once_configure(&early, &config), LAZY_OK);
    begin(&c, at_line, &early);
    gate_wait(&asking.inside);
    check_line(&c, "been inside can_init of ", "once \"early\" at 0x");
    char *text = dumped(), *line = line_about(text, "once \"early\"");
    CHECK_HAS(line, ", 1 inside can_init, 0 waiting, ");
    free(line);
    free(text);
    gate_open(&asking.go);
    CHECK_IS(ended(&c), LAZY_OK);
}
static void check_waits(void) {
    caller owner, waiter, late;
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "slow";
    config.initialize = lets_go_and_stays;
    config.ctx = &initializing;
    config.host = &lock.host;
    CHECK_IS(lazy_once_configure(&slow, &config), LAZY_OK);
    begin(&owner, at_line, &slow);
    gate_wait(&initializing.inside);
    begin(&waiter, at_line, &slow);
    until_waiting(&waiter);
    check_line(&waiter, "waited ", " for once \"slow\" at 0x");
    in_child(check_no_line);
    big_take(&lock);
    begin(&late, at_line, &slow);
    until_waiting(&late);
    check_line(&late, "for the lock of the host \"the big lock\", on its way into once \"slow\"", "waited ");
    CHECK_IS(big_interrupt(&lock, 0, 0), 1);
    while (COUNT(lock.parked) != 0) sched_yield();
    until_waiting(&waiter);
    check_line(&waiter, "for the lock of the host \"the big lock\", on its way back from a wait for once \"slow\"", "waited ");
    big_give(&lock);
    gate_open(&initializing.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&waiter), LAZY_OK);
    CHECK_IS(ended(&late), LAZY_OK);
}
static const lazy_site binding = { "binding.c", 3, "on_behalf" };
static lazy_status cancels_owner(void *once) {
    return lazy_once_cancel_owner_slow((lazy_once *)once, &running, &binding) == 0 ? LAZY_OK : LAZY_E_INVALID;
}
static lazy_status resets(void *once) { return lazy_once_reset_slow((lazy_once *)once, &binding); }
static void check_cancel(void) {
    caller owner, canceller, other, resetter;
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    config.name = "drained";
    CHECK_IS(lazy_once_configure(&drained, &config), LAZY_OK);
    request.fn = held;
    request.ctx = &running;
    request.owner = &running;
    ticket = queue_request(&drained, request);
    begin(&owner, at_line, &drained);
    gate_wait(&running.inside);
    begin(&canceller, cancels, &drained);
    until_waiting(&canceller);
    char what[64];
    snprintf(what, sizeof what, ", to cancel what thread %d runs or releases", atomic_load(&owner.id));
    check_line(&canceller, what, "once \"drained\" at 0x");
    begin(&other, cancels_owner, &drained);
    until_waiting(&other);
    check_line(&other, what, "called at binding.c:3 (on_behalf)");
    begin(&resetter, resets, &drained);
    until_waiting(&resetter);
    check_line(&resetter, "waited ", "called at binding.c:3 (on_behalf)");
    gate_open(&running.go);
    CHECK_IS(ended(&other), LAZY_OK);
    CHECK_IS(ended(&resetter), LAZY_OK);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&canceller), LAZY_E_NOT_FOUND);
}
static hold dropping = HOLD_INIT;
static void drops(void *ctx) { held(ctx); }
static lazy_status closes(void *once) { return lazy_once_close((lazy_once *)once); }
/* What has run is not told as running; a drop that hangs is, wherever it was begun. */
static void check_drop(lazy_status (*releases)(void *)) {
    static lazy_once dropped;
    caller c;
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = { .size = sizeof request, .fn = nothing, .ctx = &dropping, .drop = drops, .site = { "kept.c", 5, "keep" } };
    char who[64];
    config.name = "dropped";
    dropped = (lazy_once)LAZY_ONCE_INIT;
    dropping = (hold)HOLD_INIT;
    CHECK_IS(lazy_once_configure(&dropped, &config), LAZY_OK);
    queue_request(&dropped, request);
    begin(&c, releases, &dropped);
    gate_wait(&dropping.inside);
    snprintf(who, sizeof who, "thread %d has ", atomic_load(&c.id));
    char *text = dumped(), *line = line_about(text, who);
    CHECK_HAS(line, "been inside the drop of a request of once \"dropped\" at 0x");
    CHECK_HAS(line, ", queued by kept.c:5 (keep)");
    CHECK(strstr(text, "running a callback") == NULL);
    free(line);
    free(text);
    gate_open(&dropping.go);
    CHECK_IS(ended(&c), LAZY_OK);
    CHECK_IS(lazy_once_close(&dropped), LAZY_OK);
}
static hold calling = HOLD_INIT;
static int32_t calls(void *arg) {
    return LAZY_CALL((lazy_once *)arg, held, &calling) == LAZY_OK ? 0 : -1;
}
/* What runs at once inside another callback hangs. */
static void check_inner(void) {
    static lazy_once outer = LAZY_ONCE_INIT;
    caller c;
    char who[64];
    CHECK_IS(LAZY_CALL(&outer, calls, &outer), LAZY_QUEUED);
    begin(&c, at_line, &outer);
    gate_wait(&calling.inside);
    snprintf(who, sizeof who, "thread %d has ", atomic_load(&c.id));
    char *text = dumped(), *line = line_about(text, who);
    CHECK_HAS(line, "been inside a callback of an unnamed once at 0x");
    CHECK_HAS(line, "(calls)");
    free(line);
    free(text);
    gate_open(&calling.go);
    CHECK_IS(ended(&c), LAZY_OK);
}
/* A description is asked for when the callback has failed. */
static hold describing = HOLD_INIT;
static void describes(void *ctx, char *buffer, size_t size) {
    (void)ctx, (void)buffer, (void)size;
    held(&describing);
}
static int32_t fails(void *ctx) { return ctx ? 7 : 0; }
static void check_describe(void) {
    static lazy_once described;
    caller c;
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = { .size = sizeof request, .fn = fails, .ctx = &describing, .site = { "kept.c", 6, "keep" }, .describe = describes };
    config.name = "described";
    config.on_deferred_failure = LAZY_DEFERRED_DROP;
    CHECK_IS(lazy_once_configure(&described, &config), LAZY_OK);
    queue_request(&described, request);
    begin(&c, at_line, &described);
    gate_wait(&describing.inside);
    char who[64], *text = dumped(), *line;
    snprintf(who, sizeof who, "thread %d has ", atomic_load(&c.id));
    line = line_about(text, who);
    CHECK_HAS(line, "been inside the describe of a request of once \"described\" at 0x");
    CHECK_HAS(line, ", queued by kept.c:6 (keep)");
    free(line);
    free(text);
    gate_open(&describing.go);
    CHECK_IS(ended(&c), LAZY_E_DEFERRED);
    CHECK_IS(lazy_once_close(&described), LAZY_OK);
}
static hold sharing = HOLD_INIT, leaving = HOLD_INIT;
static void *shares(void *ctx, void *value) {
    (void)ctx;
    held(&sharing);
    return value;
}
static void ends(void *ctx, uint32_t index, void *value) {
    (void)ctx, (void)index, (void)value;
    held(&leaving);
}
static const lazy_slot_config shared_config = { .size = sizeof(lazy_slot_config), .name = "shared", .share = shares,
                                                .destroy = ends, .host = &lock.host };
static lazy_slot shared = LAZY_SLOT_INIT(&shared_config);
/* Captures, frees, and leaves its own value behind; the lock of the slot's host is kept from it at first. */
static gate is_set = GATE_INIT, is_locked = GATE_INIT;
static lazy_status captures(void *ctx) {
    void *value = NULL;
    lazy_thread_state *state = NULL;
    CHECK_IS(lazy_slot_set(&shared, 4, ctx), LAZY_OK);
    gate_open(&is_set);
    gate_wait(&is_locked);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    lazy_thread_state_free(state);
    return lazy_slot_get(&shared, 4, &value);
}
static void check_share(void) {
    caller c;
    begin(&c, captures, &shared);
    gate_wait(&is_set);
    big_take(&lock);
    gate_open(&is_locked);
    until_waiting(&c);
    check_line(&c, "for the lock of the host \"the big lock\", on its way into slot \"shared\"", "waited ");
    big_give(&lock);
    gate_wait(&sharing.inside);
    check_line(&c, "been inside the share for index 4 of slot \"shared\" for ", " s");
    char *text = dumped(), *line = line_about(text, "slot \"shared\": ");
    CHECK_HAS(line, "shares the one at index 4");
    free(line);
    free(text);
    gate_open(&sharing.go);
    gate_wait(&leaving.inside);
    check_line(&c, "been inside the destructor for index 4 of slot \"shared\" for ", " s");
    gate_open(&leaving.go);
    CHECK_IS(ended(&c), LAZY_OK);
}
static void check_slot(void) {
    caller maker, waiter;
    begin(&maker, gets, &devices);
    gate_wait(&making.inside);
    begin(&waiter, gets, &devices);
    until_waiting(&waiter);
    check_line(&maker, "been inside the factory for index 7 of slot \"devices\" for ", " s");
    check_line(&waiter, "waited ", " for index 7 of slot \"devices\"");
    gate_open(&making.go);
    CHECK_IS(ended(&maker), LAZY_OK);
    CHECK_IS(ended(&waiter), LAZY_OK);
    begin(&maker, retires, &devices);
    gate_wait(&ending.inside);
    check_line(&maker, "been inside the destructor for index 7 of slot \"devices\" for ", " s");
    gate_open(&ending.go);
    CHECK_IS(ended(&maker), LAZY_OK);
}

/* Nothing in a name reads as what stands behind it. */
static void check_bound(void) {
    static lazy_config config = { .size = sizeof(lazy_config), .name = "bound\" at 0x0: ready\\\xe2\x80\xa8\xe2\x80\xae", .host = &lock.host };
    static lazy_once bound = LAZY_ONCE_WITH(&config);
    caller c;
    big_take(&lock);
    begin(&c, at_line, &bound);
    until_waiting(&c);
    check_line(&c, "for the lock of the host \"the big lock\", on its way into once \"bound\\\" at 0x0: ready\\\\\\u2028\\u202e\" at 0x", "waited ");
    big_give(&lock);
    CHECK_IS(ended(&c), LAZY_OK);
}
static hold observing = HOLD_INIT;
static void stays_there(void *ctx, const lazy_event *event) {
    (void)event;
    held(ctx);
}
static void check_observer(void) {
    lazy_once once = LAZY_ONCE_INIT;
    lazy_observer observer = { sizeof observer, &observing, stays_there };
    char who[64], *text, *line;
    caller c;
    CHECK_IS(lazy_set_observer(&observer), LAZY_OK);
    begin(&c, in_init, &once);
    gate_wait(&observing.inside);
    snprintf(who, sizeof who, "thread %d has ", atomic_load(&c.id));
    text = dumped(), line = line_about(text, who);
    CHECK_HAS(line, "been inside on_event of the observer for ");
    CHECK_HAS(line, " s, called at ");
    free(line);
    free(text);
    gate_open(&observing.go);
    CHECK_IS(ended(&c), LAZY_OK);
    CHECK_IS(lazy_set_observer(NULL), LAZY_OK);
}

int main(void) {
    big_begin(&lock, 0, "the big lock");
    check_no_line();
    check_early();
    check_waits();
    check_cancel();
    check_drop(at_line);
    check_drop(closes);
    check_inner();
    check_describe();
    check_share();
    check_slot();
    check_bound();
    check_observer();
    check_no_line();
    return finish();
}
