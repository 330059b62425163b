// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a reset, close or info that waits in a forked child for a thread which is not there: forked while
// another thread initializes or drains and others wait, the child finds nobody inside, and each of them works.
#include "forked_child.h"
#include "callers.h"

static hold stay[2] = { HOLD_INIT, HOLD_INIT };
static lazy_once onces[2];
static lazy_once *busy;
static atomic_int ran, is_child;

/* Held in the parent; a child, where nobody could let it go, runs it again. */
static int32_t held_in_parent(void *ctx) { return atomic_load(&is_child) ? 0 : held(ctx); }

static void check_idle(uint32_t generation) {
    lazy_info info = info_of(busy);
    CHECK_IS(info.phase, LAZY_FRESH);
    CHECK_IS(info.owner_thread, 0);
    CHECK_IS(info.waiters, 0);
    CHECK_IS(info.generation, generation);
}
static void resets(void) {
    atomic_store(&is_child, 1);
    check_idle(0);
    CHECK_IS(lazy_once_reset(busy), LAZY_OK);
    check_idle(1);
    CHECK_IS(lazy_once_init(busy), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 3);
    CHECK_IS(lazy_once_reset(busy), LAZY_OK);
    CHECK_IS(lazy_once_close(busy), LAZY_OK);
}
static void closes(void) {
    check_idle(0);
    CHECK_IS(lazy_once_close(busy), LAZY_OK);
    CHECK_IS(lazy_once_init(busy), LAZY_E_CLOSED);
    CHECK_IS(info_of(busy).phase, LAZY_CLOSED);
    int null = open("/dev/null", O_WRONLY);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 0);
}

int main(void) {
    for (int in_drain = 0; in_drain < 2; in_drain++) {
        lazy_config config = LAZY_CONFIG_INIT;
        caller owner, waiter, resetter;
        busy = &onces[in_drain];
        atomic_store(&ran, 0);
        config.name = "forked";
        config.initialize = in_drain ? nothing : held_in_parent;
        config.ctx = &stay[in_drain];
        CHECK_IS(lazy_once_configure(busy, &config), LAZY_OK);
        if (in_drain) CHECK_IS(lazy_once_call(busy, held_in_parent, &stay[1]), LAZY_QUEUED);
        for (int i = 0; i < 3; i++) CHECK_IS(lazy_once_call(busy, count, &ran), LAZY_QUEUED);
        begin(&owner, in_init, busy);
        gate_wait(&stay[in_drain].inside);
        begin(&waiter, in_init, busy);
        until_waiting(&waiter);
        begin(&resetter, in_reset, busy);
        until_waiting(&resetter);
        in_child(resets);
        in_child(closes);
        gate_open(&stay[in_drain].go);
        CHECK_IS(ended(&owner), LAZY_OK);
        CHECK_IS(ended(&waiter), LAZY_OK);
        CHECK_IS(ended(&resetter), LAZY_OK);
    }
    return finish();
}
