// Guards against a library that is not ready when constructors of the program run, or gone when its destructors do: a slot is
// used, stored to and captured before main, and looked up and used after it.
#include "slots.h"

static const lazy_slot_config config = SHARED_ITEMS("early");
static lazy_slot slot = LAZY_SLOT_INIT(&config);
static lazy_thread_state *state;
static item *first;

__attribute__((constructor)) static void before_main(void) {
    first = get_new(&slot, 0);
    set_new(&slot, 1);
    CHECK_IS(lazy_thread_state_capture(&state), LAZY_OK);
}
__attribute__((destructor)) static void after_main(void) {
    CHECK_IS(COUNT(destroyed), 3);
    CHECK(get_present(&slot, 0) == first);
    get_new(&slot, 2);
}
static void *inherits(void *ctx) {
    CHECK_IS(lazy_thread_state_enter(state), LAZY_OK);
    CHECK(get_present(&slot, 0) == first);
    CHECK_IS(lazy_thread_state_leave(state), LAZY_OK);
    get_new(&slot, 0);
    return ctx;
}

int main(void) {
    CHECK(get_present(&slot, 0) == first);
    join(start(inherits, NULL));
    lazy_thread_state_free(state);
    return finish();
}
