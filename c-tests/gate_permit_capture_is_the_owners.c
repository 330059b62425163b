// Guards against a right to re-enter that anybody can take: only the initializing thread captures it, in its initializer
// and in its queued callbacks; NULL, a permit that nobody captured and a leave without an enter are refused.
#include "check.h"

static lazy_once once, inner;
static lazy_permit permit;
static int stages;

static void *elsewhere(void *ctx) {
    (void)ctx;
    lazy_permit mine;
    CHECK_IS(lazy_permit_capture(&once, &mine), LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK(*lazy_last_error()->message != 0);
    return NULL;
}
static void refused(const lazy_permit *nobodys) {
    lazy_status enter = lazy_permit_enter(nobodys), leave = lazy_permit_leave(nobodys);
    CHECK(enter == LAZY_E_INVALID || enter == LAZY_E_NOT_FOUND);
    CHECK(leave == LAZY_E_INVALID || leave == LAZY_E_NOT_FOUND);
}
static void bad_arguments(void) {
    lazy_permit zero = { { 0, 0, 0, 0 } }, noise = { { ~0ull, ~0ull, ~0ull, ~0ull } };
    CHECK_IS(lazy_permit_capture(NULL, &permit), LAZY_E_INVALID);
    CHECK_IS(lazy_permit_capture(&once, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_permit_enter(NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_permit_leave(NULL), LAZY_E_INVALID);
    refused(&zero);
    refused(&noise);
}
static int32_t initialize_inner(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK); /* this thread initializes both */
    CHECK_IS(lazy_permit_capture(&inner, &permit), LAZY_OK);
    return 0;
}
/* The initializer, and after it the queued callback. */
static int32_t inside(void *ctx) {
    (void)ctx;
    ++stages;
    bad_arguments();
    CHECK_IS(lazy_permit_capture(&inner, &permit), LAZY_E_INVALID); /* fresh, or ready */
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    join(start(elsewhere, NULL));
    CHECK_IS(lazy_permit_leave(&permit), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_last_error()->status, LAZY_E_NOT_FOUND);
    CHECK(lazy_once_is_initializing(&once));
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    CHECK(lazy_once_is_initializing(&once)); /* its own right is not lent away */
    CHECK_IS(lazy_once_run(&inner, initialize_inner, NULL), LAZY_OK);
    return 0;
}
static int32_t after(void *ctx) {
    (void)ctx;
    ++stages;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_E_INVALID); /* nobody initializes any more */
    return 0;
}

int main(void) {
    bad_arguments();
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_E_INVALID);
    CHECK_IS(lazy_once_call(&once, inside, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_E_INVALID);
    CHECK_IS(lazy_once_run(&once, inside, NULL), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, after, NULL), LAZY_OK);
    join(start(elsewhere, NULL));
    bad_arguments();
    CHECK_IS(stages, 3);
    return finish();
}
