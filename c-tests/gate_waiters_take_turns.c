// Guards against LAZY_FAIL_RETRY that shares a failure after all, or lets two try at once: each of 64 waiters makes its
// own attempt, those in run with their own initializer, one at a time, until one succeeds; then the rest need none.
#include "callers.h"

enum { WAITERS = 64 };
typedef struct turn { lazy_once *once; atomic_int runs; } turn;
static gate first_inside, first_go;
static atomic_int attempts, inside, succeeds_at, configured_runs;
static caller owner, waiters[WAITERS];
static turn turns[WAITERS];

static int32_t attempt(void) {
    CHECK_IS(atomic_exchange(&inside, 1), 0);
    int number = atomic_fetch_add(&attempts, 1) + 1;
    if (number == 1) {
        gate_open(&first_inside);
        gate_wait(&first_go);
    }
    CHECK_IS(atomic_exchange(&inside, 0), 1);
    if (number == atomic_load(&succeeds_at)) return 0;
    char text[40];
    snprintf(text, sizeof text, "failure number %d;", number);
    return lazy_fail(number, text);
}
static int32_t configured(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&configured_runs, 1);
    return attempt();
}
static int32_t own(void *runs) {
    count(runs);
    return attempt();
}
static lazy_status runs_own(void *ctx) {
    turn *mine = (turn *)ctx;
    return lazy_once_run(mine->once, own, &mine->runs);
}

/* All of them, of whom the attempt with this number succeeds. */
static void take_turns(int successful) {
    static lazy_once onces[3];
    static int next;
    lazy_once *once = &onces[next++];
    lazy_config config = LAZY_CONFIG_INIT;
    const gate closed = GATE_INIT;
    first_inside = first_go = closed;
    atomic_store(&attempts, 0);
    atomic_store(&configured_runs, 0);
    atomic_store(&succeeds_at, successful);
    config.name = "stubborn";
    config.initialize = configured;
    config.on_failure = LAZY_FAIL_RETRY;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    begin(&owner, in_init, once);
    gate_wait(&first_inside);
    for (int i = 0; i < WAITERS; i++) {
        turns[i].once = once;
        atomic_store(&turns[i].runs, 0);
        if (i % 2) begin(&waiters[i], runs_own, &turns[i]);
        else begin(&waiters[i], in_init, once);
    }
    for (int i = 0; i < WAITERS; i++) until_waiting(&waiters[i]);
    gate_open(&first_go);
    int made = successful ? successful : WAITERS + 1, failed = 0, own_runs = 0;
    char seen[WAITERS + 2] = { 0 };
    for (int i = -1; i < WAITERS; i++) {
        caller *c = i < 0 ? &owner : &waiters[i];
        lazy_status status = ended(c);
        if (i >= 0) own_runs += atomic_load(&turns[i].runs);
        if (status == LAZY_OK) continue;
        CHECK_IS(status, LAZY_E_INIT);
        CHECK(c->error.code >= 1 && c->error.code <= made);
        CHECK_IS(seen[c->error.code]++, 0); /* nobody else's failure */
        CHECK_IS(c->error.attempt, c->error.code);
        CHECK_IS(c->error.owner_thread, atomic_load(&c->id));
        char text[40];
        snprintf(text, sizeof text, "failure number %d;", c->error.code);
        CHECK_HAS(c->message, text);
        if (i >= 0) CHECK_IS(atomic_load(&turns[i].runs), i % 2);
        failed++;
    }
    CHECK_IS(failed, successful ? successful - 1 : made);
    CHECK_IS(atomic_load(&attempts), made);
    CHECK_IS(own_runs + atomic_load(&configured_runs), made);
    CHECK_IS(info_of(once).attempts, made);
    CHECK_IS(lazy_once_is_initialized(once), successful != 0);
}

int main(void) {
    take_turns(0);
    take_turns(20);
    take_turns(1);
    return finish();
}
