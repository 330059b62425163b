// Guards against a crash, or a silent success, on malformed arguments: NULL, a NULL callback, and flags that this library does
// not know are LAZY_E_INVALID, where the once is ready too, and nothing is taken. Owner NULL is nobody.
#include "requests.h"

int main(void) {
    lazy_once fresh = LAZY_ONCE_INIT, ready = LAZY_ONCE_INIT, later = LAZY_ONCE_INIT;
    lazy_once *const onces[] = { &fresh, &ready };
    job j = { 0 };
    lazy_request good = request_for(&j);
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    later.abi = 0x7fff0001;
    CHECK_IS(lazy_once_submit(NULL, &good, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK_IS(lazy_once_submit(&later, &good, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_once_cancel(&later, 1), LAZY_E_INVALID);
    CHECK_IS(lazy_once_cancel_owner(&later, &j), 0);
    CHECK_IS(lazy_once_cancel(NULL, 1), LAZY_E_INVALID);
    CHECK_IS(lazy_once_cancel_owner(NULL, &j), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_IS(lazy_once_submit(onces[i], NULL, NULL), LAZY_E_INVALID);
        lazy_request bad = good;
        bad.fn = NULL;
        CHECK_IS(lazy_once_submit(onces[i], &bad, NULL), LAZY_E_INVALID);
        CHECK_IS(LAZY_CALL(onces[i], NULL, &j), LAZY_E_INVALID);
        CHECK_IS(LAZY_CALL_HELD(onces[i], NULL, &j), LAZY_E_INVALID);
        for (int bit = 2; bit < 32; bit++) {
            bad = good;
            bad.flags = LAZY_REQUEST_NO_WAIT | (uint32_t)1 << bit;
            CHECK_IS(lazy_once_submit(onces[i], &bad, NULL), LAZY_E_INVALID);
        }
        CHECK_IS(lazy_once_cancel(onces[i], 0), LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_once_cancel(onces[i], UINT64_MAX), LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_once_cancel_owner(onces[i], &j), 0);
        CHECK_IS(lazy_once_cancel_owner(onces[i], NULL), 0);
    }
    CHECK_JOB(j, 0, 0);
    CHECK_IS(queued_in(&fresh), 0);

    good.flags = LAZY_REQUEST_NO_WAIT | LAZY_REQUEST_HOLD_HOST;
    queue_request(&fresh, good);
    CHECK_IS(lazy_once_cancel_owner(&fresh, NULL), 0); /* it has no owner, which is not an owner named NULL */
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    CHECK_JOB(j, 1, 1);
    CHECK_IS(lazy_once_submit(&fresh, &good, NULL), LAZY_OK);
    CHECK_JOB(j, 2, 2);
    return finish();
}
