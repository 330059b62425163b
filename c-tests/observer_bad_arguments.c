// Guards against an observer that is taken as it should not be, or refused where a struct of another size is good.
#include "observed.h"

static lazy_once once = LAZY_ONCE_INIT, again = LAZY_ONCE_INIT;

int main(void) {
    struct { lazy_observer observer; uint64_t more; } newer = { LAZY_OBSERVER_INIT, 0 };
    lazy_observer *observer = &newer.observer;
    CHECK_IS(lazy_set_observer(observer), LAZY_E_INVALID);
    CHECK_HAS(lazy_last_error()->message, "on_event is NULL");
    observer->on_event = keep_event;
    for (size_t size = 0; size < sizeof *observer; size++) {
        observer->size = size;
        CHECK_IS(lazy_set_observer(observer), LAZY_E_INVALID);
        CHECK_HAS(lazy_last_error()->message, "observer");
    }
    observer->size = sizeof newer;
    newer.more = 1;
    CHECK_IS(lazy_set_observer(observer), LAZY_E_INVALID);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(event_count, 0);
    newer.more = 0;
    CHECK_IS(lazy_set_observer(observer), LAZY_OK);
    /* Copied: what becomes of the struct is nobody's business. */
    memset(&newer, 0xff, sizeof newer);
    CHECK_IS(lazy_once_init(&again), LAZY_OK);
    CHECK_IS(event_count, 2);
    observe_no_more();
    observe_no_more();
    return finish();
}
