// Guards against a crash, or a layer that stays or goes by mistake: leave without enter, leave in the wrong order, leave on
// another thread, enter twice of one state, enter and leave of NULL, free of NULL, and a state that captured nothing. A leave
// that fails changes nothing; one that succeeds takes off the latest layer of that state, wherever it lies.
#include "slots.h"

static const lazy_slot_config config = SHARED_ITEMS("layered");
static lazy_slot slot = LAZY_SLOT_INIT(&config);
static lazy_thread_state *a, *b, *empty;
static item *of_a, *of_b;

static void check_refused(lazy_status status) {
    CHECK_IS(status, LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_last_error()->status, LAZY_E_NOT_FOUND);
    CHECK(strlen(lazy_last_error()->message) > 0);
}
static void *captures_b(void *ctx) {
    of_b = get_new(&slot, 0);
    CHECK_IS(lazy_thread_state_capture(&b), LAZY_OK);
    return ctx;
}
static void *never_entered(void *ctx) {
    check_refused(lazy_thread_state_leave(a));
    CHECK_IS(lazy_thread_state_enter(b), LAZY_OK);
    check_refused(lazy_thread_state_leave(a));
    CHECK(get_present(&slot, 0) == of_b);
    CHECK_IS(lazy_thread_state_leave(b), LAZY_OK);
    return ctx;
}
static void *wrong_order(void *ctx) {
    CHECK_IS(lazy_thread_state_enter(a), LAZY_OK);
    CHECK_IS(lazy_thread_state_enter(b), LAZY_OK);
    CHECK_IS(lazy_thread_state_enter(a), LAZY_OK);
    CHECK_IS(lazy_thread_state_leave(b), LAZY_OK); /* from the middle */
    CHECK(get_present(&slot, 0) == of_a);
    CHECK_IS(lazy_thread_state_enter(b), LAZY_OK);
    for (int i = 0; i < 2; i++) CHECK_IS(lazy_thread_state_leave(a), LAZY_OK); /* from below */
    CHECK(get_present(&slot, 0) == of_b);
    CHECK_IS(lazy_thread_state_leave(b), LAZY_OK);
    CHECK(!lazy_slot_has(&slot, 0));
    check_refused(lazy_thread_state_leave(a));
    check_refused(lazy_thread_state_leave(b));
    return ctx;
}
static void *twice(void *ctx) {
    for (int i = 0; i < 3; i++) CHECK_IS(lazy_thread_state_enter(a), LAZY_OK);
    join(start(never_entered, NULL));
    for (int i = 0; i < 3; i++) {
        CHECK(get_present(&slot, 0) == of_a);
        CHECK_IS(lazy_thread_state_leave(a), LAZY_OK);
    }
    CHECK(!lazy_slot_has(&slot, 0));
    check_refused(lazy_thread_state_leave(a));
    return ctx;
}

int main(void) {
    CHECK_IS(lazy_thread_state_capture(&empty), LAZY_OK);
    CHECK(empty != NULL);
    CHECK_IS(lazy_thread_state_enter(empty), LAZY_OK);
    of_a = get_new(&slot, 0);
    CHECK_IS(lazy_thread_state_leave(empty), LAZY_OK);
    CHECK(get_present(&slot, 0) == of_a);
    lazy_thread_state_free(empty);
    lazy_thread_state_free(NULL);
    CHECK_IS(lazy_thread_state_capture(&a), LAZY_OK);
    join(start(captures_b, NULL));
    CHECK_IS(lazy_thread_state_capture(NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_thread_state_enter(NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_thread_state_leave(NULL), LAZY_E_INVALID);
    join(start(never_entered, NULL));
    join(start(wrong_order, NULL));
    join(start(twice, NULL));
    check_refused(lazy_thread_state_leave(a));
    CHECK_IS(COUNT(copied), 2);
    lazy_thread_state_free(a);
    lazy_thread_state_free(b);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_BALANCE();
    return finish();
}
