// Guards against a worker's permits being mixed up: those of two onces are entered together and left in any order, one
// entered twice is left twice, and a copy of a permit is the permit.
#include "check.h"

static lazy_once outer, inner;
static lazy_permit outer_permit, inner_permit;

static void inside(bool of_outer, bool of_inner) {
    CHECK_IS(lazy_once_is_initializing(&outer), of_outer);
    CHECK_IS(lazy_once_is_initializing(&inner), of_inner);
    CHECK_IS(lazy_once_init_timeout(&outer, 0), of_outer ? LAZY_IN_PROGRESS : LAZY_E_TIMEOUT);
    CHECK_IS(lazy_once_init_timeout(&inner, 0), of_inner ? LAZY_IN_PROGRESS : LAZY_E_TIMEOUT);
}
static void *worker(void *ctx) {
    (void)ctx;
    lazy_permit copy = inner_permit;
    CHECK_IS(lazy_permit_enter(&outer_permit), LAZY_OK);
    inside(true, false);
    CHECK_IS(lazy_permit_leave(&inner_permit), LAZY_E_NOT_FOUND); /* not this one */
    CHECK_IS(lazy_permit_enter(&inner_permit), LAZY_OK);
    inside(true, true);
    CHECK_IS(lazy_permit_leave(&outer_permit), LAZY_OK); /* the first one first */
    inside(false, true);
    CHECK_IS(lazy_permit_leave(&outer_permit), LAZY_E_NOT_FOUND);

    CHECK_IS(lazy_permit_enter(&copy), LAZY_OK); /* the second time */
    CHECK_IS(lazy_permit_enter(&inner_permit), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&copy), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&copy), LAZY_OK);
    inside(false, true);
    CHECK_IS(lazy_permit_leave(&copy), LAZY_OK);
    inside(false, false);
    CHECK_IS(lazy_permit_leave(&copy), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_permit_leave(&inner_permit), LAZY_E_NOT_FOUND);

    CHECK_IS(lazy_permit_enter(&copy), LAZY_OK);
    memset(&copy, 0, sizeof copy); /* a permit is plain data: nothing points to it */
    inside(false, true);
    CHECK_IS(lazy_permit_leave(&inner_permit), LAZY_OK);
    inside(false, false);
    return NULL;
}
static int32_t initialize_inner(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&inner, &inner_permit), LAZY_OK);
    join(start(worker, NULL));
    CHECK_IS(lazy_permit_enter(&outer_permit), LAZY_OK); /* the initializing thread may, and stays what it is */
    CHECK_IS(lazy_permit_enter(&outer_permit), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&outer_permit), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&outer_permit), LAZY_OK);
    CHECK_IS(lazy_permit_leave(&outer_permit), LAZY_E_NOT_FOUND);
    inside(true, true);
    return 0;
}
static int32_t initialize_outer(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_capture(&outer, &outer_permit), LAZY_OK);
    CHECK_IS(lazy_once_run(&inner, initialize_inner, NULL), LAZY_OK);
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_run(&outer, initialize_outer, NULL), LAZY_OK);
    CHECK(lazy_once_is_initialized(&outer) && lazy_once_is_initialized(&inner));
    return finish();
}
