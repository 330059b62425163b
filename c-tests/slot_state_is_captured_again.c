// Guards against grandchildren that find nothing: a thread inside a captured state captures what it finds there, its own
// values beside it, and neither is touched when the first state is left and freed; each copy is destroyed once.
#include "slots.h"

static const lazy_slot_config configs[2] = { SHARED_ITEMS("inherited"), SHARED_ITEMS("own") };
static lazy_slot inherited = LAZY_SLOT_INIT(&configs[0]), own = LAZY_SLOT_INIT(&configs[1]);
static lazy_thread_state *first, *second;
static item *grandparents, *parents;

static void *grandchild(void *ctx) {
    CHECK_IS(lazy_thread_state_enter(second), LAZY_OK);
    CHECK(get_present(&inherited, 0) == grandparents);
    CHECK(get_present(&own, 0) == parents);
    CHECK_IS(lazy_thread_state_leave(second), LAZY_OK);
    CHECK(!lazy_slot_has(&inherited, 0));
    return ctx;
}
static void *child(void *ctx) {
    item *hidden = get_new(&inherited, 0);
    parents = get_new(&own, 0);
    CHECK_IS(lazy_thread_state_enter(first), LAZY_OK);
    CHECK_IS(lazy_thread_state_capture(&second), LAZY_OK);
    CHECK_IS(COUNT(hidden->references), 1); /* it is not what this thread finds */
    CHECK_IS(COUNT(grandparents->references), 3);
    CHECK_IS(lazy_thread_state_leave(first), LAZY_OK);
    lazy_thread_state_free(first);
    CHECK_IS(COUNT(grandparents->references), 2);
    return ctx;
}

int main(void) {
    grandparents = get_new(&inherited, 0);
    CHECK_IS(lazy_thread_state_capture(&first), LAZY_OK);
    join(start(child, NULL));
    for (int i = 0; i < 3; i++) join(start(grandchild, NULL));
    CHECK_IS(COUNT(parents->references), 1);
    lazy_thread_state_free(second);
    CHECK_IS(COUNT(parents->references), 0);
    CHECK_IS(COUNT(grandparents->references), 1);
    CHECK_IS(lazy_slot_retire(&inherited), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
