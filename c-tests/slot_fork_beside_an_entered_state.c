// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a child that waits for threads it does not have: a state that another thread is inside of at the fork is
// freed there, and its copies end; one that the child enters shows what each policy leaves of it. A child forked by a thread
// that is not the first keeps that thread's values, and the others' are gone without destroy.
#include "forked_child.h"
#include "slots.h"

enum { POLICIES = 3 };
static lazy_slot slots[POLICIES];
static lazy_slot_config configs[POLICIES] = { SHARED_ITEMS("kept"), SHARED_ITEMS("poisoned"), SHARED_ITEMS("renewed") };
static lazy_thread_state *state;
static item *mine[POLICIES];
static gate inside = GATE_INIT, leave = GATE_INIT;

static void frees(void) {
    lazy_thread_state_free(state);
    CHECK_IS(COUNT(mine[LAZY_FORK_KEEP]->references), 1);
    CHECK_IS(COUNT(mine[LAZY_FORK_RESET]->references), 2); /* forgotten */
}
static void enters_and_frees(void) {
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    CHECK(get_present(&slots[LAZY_FORK_KEEP], 0) == mine[LAZY_FORK_KEEP]);
    check_get(&slots[LAZY_FORK_POISON], 0, LAZY_E_FORKED);
    CHECK(get_new(&slots[LAZY_FORK_RESET], 0) != mine[LAZY_FORK_RESET]);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    frees();
}
static void retires(void) {
    get_present(&slots[LAZY_FORK_KEEP], 7);
    CHECK(!lazy_slot_has(&slots[LAZY_FORK_KEEP], 0));
    lazy_thread_state_free(state);
    CHECK_IS(lazy_slot_retire(&slots[LAZY_FORK_KEEP]), LAZY_OK);
    CHECK_IS(COUNT(destroyed), 2); /* the copy, and what this thread had */
    CHECK_IS(COUNT(mine[LAZY_FORK_KEEP]->references), 1);
}
static void *forks(void *ctx) {
    get_new(&slots[LAZY_FORK_KEEP], 7);
    in_child(retires);
    return ctx;
}
static void *is_inside(void *ctx) {
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    gate_open(&inside);
    gate_wait(&leave);
    return ctx;
}

int main(void) {
    for (uint32_t i = 0; i < POLICIES; i++) {
        configs[i].on_fork = i;
        slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
        mine[i] = get_new(&slots[i], 0);
    }
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    in_child(frees);
    in_child(enters_and_frees);
    join(start(forks, NULL));
    SET(destroyed, 0); /* what the thread had */
    SET(made, POLICIES);
    pthread_t thread = start(is_inside, NULL);
    gate_wait(&inside);
    in_child(frees);
    in_child(enters_and_frees);
    join(start(forks, NULL));
    gate_open(&leave);
    join(thread);
    lazy_thread_state_free(state);
    for (int i = 0; i < POLICIES; i++) CHECK_IS(COUNT(mine[i]->references), 1);
    return finish();
}
