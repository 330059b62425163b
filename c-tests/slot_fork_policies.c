// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a child that uses what it must not, or destroys what is the parent's: KEEP keeps the values of the thread
// that forked, and its entered state; under POISON get and set are LAZY_E_FORKED and name the slot and the parent; RESET
// forgets the values without destroy and makes new ones. In both scopes, in a grandchild too; the parent notices nothing.
#include "forked_child.h"
#include "slots.h"

enum { POLICIES = 3 };
static const char *const names[POLICIES] = { "kept", "poisoned", "renewed" };
static lazy_slot_config configs[2][POLICIES];
static lazy_slot slots[2][POLICIES];
static item *parents[2][POLICIES];
static lazy_thread_state *state;
static int with_threads, generation;
static pid_t parent;

static void check_poisoned(lazy_slot *slot) {
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)parent);
    check_get(slot, 0, LAZY_E_FORKED);
    CHECK_HAS(lazy_last_error()->message, "poisoned");
    CHECK_HAS(lazy_last_error()->message, pid);
    check_get(slot, 1, LAZY_E_FORKED);
    CHECK_IS(lazy_slot_set(slot, 0, &items[0]), LAZY_E_FORKED);
    CHECK(!lazy_slot_has(slot, 0));
}
static void *makes(void *ctx) {
    (void)ctx;
    for (uint32_t scope = 0; scope < 2; scope++)
        for (int policy = 0; policy < POLICIES; policy += 2) get(&slots[scope][policy], 5);
    return NULL;
}
static void child(void) {
    int gone = COUNT(destroyed);
    generation++;
    for (uint32_t scope = 0; scope < 2; scope++) {
        CHECK(get_present(&slots[scope][LAZY_FORK_KEEP], 0) == parents[scope][LAZY_FORK_KEEP]);
        check_poisoned(&slots[scope][LAZY_FORK_POISON]);
        CHECK(get_new(&slots[scope][LAZY_FORK_RESET], 0) != parents[scope][LAZY_FORK_RESET]);
        CHECK_IS(COUNT(destroyed), gone);
    }
    if (with_threads) join(start(makes, NULL));
    CHECK_IS(COUNT(destroyed), gone + (with_threads ? 2 : 0));
    if (generation < 2) in_child(child);
    for (uint32_t scope = 0; scope < 2; scope++) {
        gone = COUNT(destroyed);
        CHECK_IS(lazy_slot_retire(&slots[scope][LAZY_FORK_RESET]), LAZY_OK);
        CHECK_IS(COUNT(destroyed), gone + 1 + (scope && with_threads));
        CHECK_IS(COUNT(parents[scope][LAZY_FORK_RESET]->references), 1);
        lazy_slot_retire(&slots[scope][LAZY_FORK_POISON]); /* whatever it says, it returns */
        CHECK_IS(COUNT(parents[scope][LAZY_FORK_POISON]->references), 1);
        CHECK_IS(lazy_slot_retire(&slots[scope][LAZY_FORK_KEEP]), LAZY_OK);
        CHECK_IS(COUNT(parents[scope][LAZY_FORK_KEEP]->references), 0);
    }
}
static void inside_a_state(void) {
    CHECK(get_present(&slots[0][LAZY_FORK_KEEP], 0) == parents[0][LAZY_FORK_KEEP]);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    CHECK(!lazy_slot_has(&slots[0][LAZY_FORK_KEEP], 0));
    lazy_thread_state_free(state);
    CHECK_IS(COUNT(parents[0][LAZY_FORK_KEEP]->references), 1);
}
static void *forks_inside(void *ctx) {
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    in_child(inside_a_state);
    return ctx;
}
static void *stays(void *leave) {
    makes(NULL);
    get(&slots[0][LAZY_FORK_POISON], 3);
    gate_open(&((gate *)leave)[0]);
    gate_wait(&((gate *)leave)[1]);
    return NULL;
}

int main(void) {
    static gate gates[2] = { GATE_INIT, GATE_INIT };
    parent = getpid();
    for (uint32_t scope = 0; scope < 2; scope++)
        for (uint32_t policy = 0; policy < POLICIES; policy++) {
            configs[scope][policy] = (lazy_slot_config){ sizeof(lazy_slot_config), names[policy], NULL, make, destroy, NULL,
                                                         NULL, scope, policy };
            slots[scope][policy] = (lazy_slot)LAZY_SLOT_INIT(&configs[scope][policy]);
            if (policy == LAZY_FORK_KEEP && !scope) configs[scope][policy].share = share;
            parents[scope][policy] = get_new(&slots[scope][policy], 0);
        }
    with_threads = 1;
    in_child(child);
    with_threads = 0;
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    pthread_t thread = start(stays, gates); /* its values are not the child's */
    gate_wait(&gates[0]);
    in_child(child);
    join(start(forks_inside, NULL));
    lazy_thread_state_free(state);
    gate_open(&gates[1]);
    join(thread);
    for (uint32_t scope = 0; scope < 2; scope++)
        for (int policy = 0; policy < POLICIES; policy++) {
            CHECK(get_present(&slots[scope][policy], 0) == parents[scope][policy]);
            CHECK_IS(lazy_slot_retire(&slots[scope][policy]), LAZY_OK);
        }
    CHECK_BALANCE();
    return finish();
}
