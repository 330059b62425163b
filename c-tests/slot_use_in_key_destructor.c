// not-under: tsan: its own end of a thread comes before the last round of destructors
// Guards against thread state that is gone when a thread's own destructors run: they look up, make, set and enter a state
// before and after the library's own clean-up of that thread, round after round, and all of it is destroyed and left as well.
#include "slots.h"

enum { KEYS = 2, ROUNDS = 3 };
static pthread_key_t keys[KEYS]; /* made before the library is used, and after */
static const lazy_slot_config configs[2] = { SHARED_ITEMS("late"), ITEMS("unused before", LAZY_SLOT_THREAD) };
static lazy_slot slot = LAZY_SLOT_INIT(&configs[0]), unused = LAZY_SLOT_INIT(&configs[1]);
static lazy_thread_state *state;
static item *captured;
static __thread int turns[KEYS];
static int turns_made;

static void destructor(void *key) {
    int which = (int)((pthread_key_t *)key - keys), turn = ++turns[which];
    ADD(turns_made, 1);
    get(&unused, (uint32_t)(turn * KEYS + which));
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    CHECK(get_present(&slot, 0) == captured);
    if (turn == 1) CHECK_IS(lazy_thread_state_leave(state), LAZY_OK); /* later ones are left by the end of the thread */
    get(&slot, 40 + (uint32_t)(turn * KEYS + which));
    if (!lazy_slot_has(&unused, 90)) set_new(&unused, 90);
    if (turn < ROUNDS) CHECK_IS(pthread_setspecific(*(pthread_key_t *)key, key), 0);
}
static void *thread(void *uses) {
    if (uses) get_new(&slot, 0);
    for (int i = 0; i < KEYS; i++) CHECK_IS(pthread_setspecific(keys[i], &keys[i]), 0);
    return NULL;
}

int main(void) {
    CHECK_IS(pthread_key_create(&keys[0], destructor), 0);
    captured = get_new(&slot, 0);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK_IS(pthread_key_create(&keys[1], destructor), 0);
    for (int i = 0; i < 4; i++) {
        int before = COUNT(made) - COUNT(destroyed);
        join(start(thread, i % 2 ? state : NULL));
        CHECK_IS(COUNT(turns_made), (i + 1) * KEYS * ROUNDS);
        CHECK_IS(COUNT(made) - COUNT(destroyed), before);
    }
    CHECK_IS(COUNT(captured->references), 2);
    lazy_thread_state_free(state); /* nobody is inside any more */
    CHECK_IS(COUNT(captured->references), 1);
    return finish();
}
