// Guards against an observer whose code is unloaded while a thread is still inside it: replacing it waits until its running calls have
// returned, from the inside it does not, and after it nobody calls the old one.
#include "observed.h"
#include "callers.h"

static gate inside = GATE_INIT, go = GATE_INIT;
static int old_calls, removed;
static lazy_once first = LAZY_ONCE_INIT, second = LAZY_ONCE_INIT, third = LAZY_ONCE_INIT;

static void stays_inside(void *ctx, const lazy_event *event) {
    (void)event;
    CHECK(ctx == &inside);
    CHECK(!COUNT(removed));
    if (ADD(old_calls, 1)) return;
    gate_open(&inside);
    gate_wait(&go);
}
static void *removes(void *id) {
    SET(*(int *)id, thread_id());
    observe_no_more();
    SET(removed, 1);
    return NULL;
}
static void replaces_itself(void *ctx, const lazy_event *event) {
    (void)event;
    ADD(*(int *)ctx, 1);
    observe();
}

int main(void) {
    observe_with(stays_inside, &inside);
    pthread_t owner = start(initializes, &first);
    gate_wait(&inside);
    int id = 0;
    pthread_t remover = start(removes, &id);
    while (!COUNT(id)) sched_yield();
    until_asleep(COUNT(id));
    CHECK_IS(COUNT(removed), 0);
    /* It is not called any more, and another one can be set and removed meanwhile. */
    CHECK_IS(lazy_once_init(&second), LAZY_OK);
    CHECK_IS(COUNT(old_calls), 1);
    observe();
    observe_no_more();
    gate_open(&go);
    join(remover);
    CHECK_IS(COUNT(removed), 1);
    join(owner);
    CHECK_IS(COUNT(old_calls), 1);
    CHECK_IS(event_count, 0);

    int calls = 0;
    observe_with(replaces_itself, &calls);
    CHECK_IS(lazy_once_init(&third), LAZY_OK);
    CHECK_IS(calls, 1); /* of the two events of the attempt */
    CHECK_IS(event_count, 1);
    CHECK(is_end(&events[0]));
    observe_no_more();
    return finish();
}
