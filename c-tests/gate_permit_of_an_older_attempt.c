// Guards against a permit that outlives its attempt: after a failure, after READY, after a reset, after close, and in a
// once that lives anew at the same address, entering it is LAZY_E_NOT_FOUND and gives no right to anybody.
#include "check.h"

enum { most = 8 };
static lazy_once once;
static lazy_permit permits[most];
static int captured;

static void none_is_good(void) {
    for (int i = 0; i < captured; i++) {
        CHECK_IS(lazy_permit_enter(&permits[i]), LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_last_error()->status, LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_permit_leave(&permits[i]), LAZY_E_NOT_FOUND);
    }
}
static void *worker(void *ctx) {
    (void)ctx;
    none_is_good();
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
    return NULL;
}
static int32_t initialize(void *result) {
    none_is_good(); /* nor on the thread that initializes now */
    join(start(worker, NULL));
    CHECK(captured < most);
    CHECK_IS(lazy_permit_capture(&once, &permits[captured]), LAZY_OK);
    ++captured;
    return result ? 1 : 0;
}

int main(void) {
    CHECK_IS(lazy_once_run(&once, initialize, &once), LAZY_E_INIT);
    none_is_good();
    CHECK_IS(lazy_once_run(&once, initialize, &once), LAZY_E_INIT);
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    none_is_good();
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    none_is_good();
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK); /* if attempts were counted from 1 again, this one is */
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    none_is_good();
    memset(&once, 0, sizeof once);
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    memset(&once, 0, sizeof once); /* ready and never configured: its storage may end without close */
    CHECK_IS(lazy_once_run(&once, initialize, NULL), LAZY_OK);
    CHECK_IS(captured, 6);
    none_is_good();
    return finish();
}
