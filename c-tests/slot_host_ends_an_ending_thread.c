// flags: -fexceptions
// Guards against a host that ends a thread which is ending already, as CPython up to 3.13 does to those that come to it while it is
// finalising: the process goes on, that value is leaked and not destroyed unattached, what else the thread had is ended, and
// nobody waits for it.
#include "big_lock.h"
#include "callers.h"
#include "slots.h"

static big_lock lock;
static lazy_slot hosted, plain;
static lazy_once once;

static int32_t lend(void *ctx) { return lazy_permit_capture(&once, (lazy_permit *)ctx); }
static void *has_values_and_ends(void *ctx) {
    get(&hosted, 0);
    get(&plain, 0);
    get(&plain, 1);
    CHECK_IS(lazy_slot_get(NULL, 0, NULL), LAZY_E_INVALID); /* an error to be freed */
    SET(lock.ends_thread, 1);
    return ctx; /* its end takes the lock for each hosted value, and is ended there; the lock is let go on the way */
}

int main(void) {
    lazy_permit permit;
    big_begin(&lock, 0, "ending");
    lazy_slot_config config = ITEMS("hosted", LAZY_SLOT_THREAD);
    lazy_slot_config others = ITEMS("plain", LAZY_SLOT_THREAD);
    config.host = &lock.host;
    hosted = (lazy_slot)LAZY_SLOT_INIT(&config);
    plain = (lazy_slot)LAZY_SLOT_INIT(&others);
    CHECK_IS(lazy_once_run(&once, lend, &permit), LAZY_OK);
    for (int times = 0; times < 20; times++) {
        join(start(has_values_and_ends, NULL));
        SET(lock.ends_thread, 0);
        CHECK_IS(*big_depth(&lock), 0);
        big_take(&lock);
        big_give(&lock);
        CHECK_IS(COUNT(destroyed), 2 * (times + 1));
    }
    CHECK_IS(lazy_slot_retire(&hosted), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&plain), LAZY_OK);
    CHECK_IS(COUNT(destroyed), 40); /* the hosted ones are leaked */
    return finish();
}
