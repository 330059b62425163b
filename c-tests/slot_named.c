// Guards against two slots of one name, or one of two: lazy_slot_named gives the same slot for the same name on every thread
// and at once, another for another name, NULL for NULL, and none of them is a once's. It is configured through a struct and a
// name that go away, and works like any other; its name is in its errors.
#include "slots.h"

enum { THREADS = 16, NAMES = 40 };
static lazy_slot *found[THREADS][NAMES];
static pthread_barrier_t together;

static void *looks(void *number) {
    int me = (int)(intptr_t)number;
    char name[32];
    pthread_barrier_wait(&together);
    for (int i = 0; i < NAMES; i++) {
        int which = (i * 7 + me) % NAMES;
        snprintf(name, sizeof name, "slot %d", which);
        found[me][which] = lazy_slot_named(name);
        memset(name, 0, sizeof name);
    }
    return NULL;
}
static void configure(lazy_slot *slot) {
    lazy_slot_config config = SHARED_ITEMS(NULL);
    CHECK_IS(lazy_slot_configure(slot, &config), LAZY_OK);
    CHECK_IS(lazy_slot_configure(slot, &config), LAZY_OK);
    memset((void *)&config, 0xa5, sizeof config);
}
static void *uses(void *slot) {
    get_new((lazy_slot *)slot, 0);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    lazy_thread_state *state = NULL;
    CHECK(lazy_slot_named(NULL) == NULL);
    pthread_barrier_init(&together, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++) threads[i] = start(looks, (void *)i);
    for (int i = 0; i < THREADS; i++) join(threads[i]);
    for (int i = 0; i < NAMES; i++) {
        CHECK(found[0][i] != NULL);
        for (int t = 1; t < THREADS; t++) CHECK(found[t][i] == found[0][i]);
        for (int other = 0; other < i; other++) CHECK(found[0][other] != found[0][i]);
    }
    lazy_slot *slot = lazy_slot_named("cuda streams");
    CHECK((void *)lazy_once_named("cuda streams") != (void *)slot);
    check_get(slot, 0, LAZY_E_NOT_FOUND);
    CHECK_HAS(lazy_last_error()->message, "cuda streams");
    configure(slot);
    item *mine = get_new(slot, 3);
    CHECK(lazy_slot_named("cuda streams") == slot);
    CHECK(get_present(slot, 3) == mine);
    join(start(uses, slot));
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    CHECK_IS(COUNT(copied), 1);
    lazy_thread_state_free(state);
    CHECK_IS(COUNT(destroyed), 2);
    return finish();
}
