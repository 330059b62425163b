// Shows the published fault, so that the programs about slots are known to guard against it: with a plain thread_local that
// the importing thread sets up, the same work succeeds there and fails its assertion on every thread started by hand.
#include "containers.h"

enum { WORKERS = 8 };
static _Thread_local tree_state *tree_manager_containers;
static int failed_assertions;

static tree_state *get_obj(void) {
    if (!tree_manager_containers) { /* the published code asserts here */
        ADD(failed_assertions, 1);
        pthread_exit(NULL);
    }
    return tree_manager_containers;
}
static void *captures(void *ctx) {
    (void)ctx;
    capture_graphs();
    CHECK(!"a thread without state captured graphs");
    return NULL;
}
static void workers(void) {
    pthread_t threads[WORKERS];
    SET(failed_assertions, 0);
    for (int i = 0; i < WORKERS; i++) threads[i] = start(captures, NULL);
    for (int i = 0; i < WORKERS; i++) join(threads[i]);
    CHECK_IS(COUNT(failed_assertions), WORKERS);
}

int main(void) {
    workers();
    tree_manager_containers = new_tree_state();
    CHECK_IS(capture_graphs(), DEVICES);
    workers();
    CHECK_IS(capture_graphs(), DEVICES);
    drop_tree_state(tree_manager_containers);
    return finish();
}
