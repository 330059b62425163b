/* The shape of the published case: each device has a container of captured graphs, made on first use under the device's
   lock; threads reach both through get_obj. How get_obj finds them is the program's. For C11. */
#ifndef CONTAINERS_H
#define CONTAINERS_H
#include "requests.h"

enum { DEVICES = 4 };
typedef struct container { int device, maker, captures; } container;
typedef struct tree_state { pthread_mutex_t locks[DEVICES]; container *containers[DEVICES]; int references; } tree_state;

static tree_state *get_obj(void);

static inline tree_state *new_tree_state(void) {
    tree_state *state = (tree_state *)calloc(1, sizeof *state);
    CHECK(state != NULL);
    for (int i = 0; i < DEVICES; i++) CHECK_IS(pthread_mutex_init(&state->locks[i], NULL), 0);
    SET(state->references, 1);
    return state;
}
static inline void drop_tree_state(tree_state *state) {
    if (ADD(state->references, -1) > 1) return;
    for (int i = 0; i < DEVICES; i++) {
        CHECK_IS(pthread_mutex_destroy(&state->locks[i]), 0);
        free(state->containers[i]);
    }
    free(state);
}
static inline container *get_container(int device) {
    tree_state *state = get_obj();
    pthread_mutex_lock(&state->locks[device]);
    container *c = state->containers[device];
    if (!c) {
        c = state->containers[device] = (container *)calloc(1, sizeof *c);
        c->device = device;
        c->maker = thread_id();
    }
    pthread_mutex_unlock(&state->locks[device]);
    return c;
}
/* What a compiled function does with its graphs: twice on every device. Gives how many containers this thread made. */
static inline int capture_graphs(void) {
    int own = 0;
    for (int device = 0; device < DEVICES; device++) {
        container *c = get_container(device);
        CHECK_IS(c->device, device);
        ADD(c->captures, 1);
        CHECK(get_container(device) == c);
        CHECK(ADD(c->captures, 1) > 0);
        own += c->maker == thread_id();
    }
    return own;
}
#endif
