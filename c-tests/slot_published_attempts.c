// Guards against state that only the thread has which set it up, the published fault: a thread started by hand finds
// containers and locks of its own, whether nothing was set up before or the main thread had set up its own; and the main
// thread's, by reference, inside its captured state.
#include "containers.h"

enum { WORKERS = 8 };
static int made, destroyed;

static int32_t create(void *ctx, uint32_t index, void **value) {
    (void)ctx, (void)index;
    *value = new_tree_state();
    ADD(made, 1);
    return 0;
}
static void destroy(void *ctx, uint32_t index, void *value) {
    (void)ctx, (void)index;
    drop_tree_state((tree_state *)value);
    ADD(destroyed, 1);
}
static void *share(void *ctx, void *value) {
    (void)ctx;
    ADD(((tree_state *)value)->references, 1);
    return value;
}
static const lazy_slot_config config = { sizeof(lazy_slot_config), "tree_manager_containers", NULL, create, destroy, share,
                                         NULL, LAZY_SLOT_THREAD, LAZY_FORK_KEEP };
static lazy_slot slot = LAZY_SLOT_INIT(&config);
static tree_state *get_obj(void) {
    void *value = NULL;
    CHECK_IS(lazy_slot_get(&slot, 0, &value), LAZY_OK);
    return (tree_state *)value;
}

static void *captures_its_own(void *ctx) {
    (void)ctx;
    CHECK(!lazy_slot_has(&slot, 0));
    CHECK_IS(capture_graphs(), DEVICES);
    CHECK(lazy_slot_has(&slot, 0));
    return get_obj();
}
static void *captures_its_parents(void *state) {
    CHECK_IS(lazy_thread_state_enter((lazy_thread_state *)state), LAZY_OK);
    CHECK_IS(capture_graphs(), 0);
    CHECK_IS(lazy_thread_state_leave((lazy_thread_state *)state), LAZY_OK);
    return NULL;
}
static void workers(void *(*body)(void *), void *arg) {
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) threads[i] = start(body, arg);
    for (int i = 0; i < WORKERS; i++) join(threads[i]);
}

int main(void) {
    lazy_thread_state *state = NULL;
    workers(captures_its_own, NULL); /* nothing is set up on main */
    CHECK_IS(COUNT(made), WORKERS);
    CHECK(!lazy_slot_has(&slot, 0));

    CHECK_IS(capture_graphs(), DEVICES); /* set up on main, and used by workers */
    tree_state *mine = get_obj();
    workers(captures_its_own, NULL);
    CHECK(get_obj() == mine);
    CHECK_IS(COUNT(made), 2 * WORKERS + 1);
    CHECK_IS(COUNT(destroyed), 2 * WORKERS);
    for (int i = 0; i < DEVICES; i++) CHECK_IS(COUNT(mine->containers[i]->captures), 2);

    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
    workers(captures_its_parents, state);
    lazy_thread_state_free(state);
    CHECK_IS(COUNT(made), 2 * WORKERS + 1);
    CHECK_IS(COUNT(destroyed), 2 * WORKERS + 1);
    for (int i = 0; i < DEVICES; i++) CHECK_IS(COUNT(mine->containers[i]->captures), 2 + 2 * WORKERS);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_IS(COUNT(destroyed), 2 * WORKERS + 2);
    return finish();
}
