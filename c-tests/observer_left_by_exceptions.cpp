// Guards against a callback or wait whose end is not told because an exception, or the end of the thread, left it; and against a
// cancellation that takes effect inside on_event.
#include "observed.h"
#include "caught.hpp"

static lazy_once once = LAZY_ONCE_INIT, cancelled = LAZY_ONCE_INIT, ending = LAZY_ONCE_INIT;

static int32_t throws(void *) {
    throw 7;
}
static void tests_cancel(void *ctx, const lazy_event *event) {
    keep_event(ctx, event);
    pthread_testcancel();
}
static int32_t nothing_at_all(void *) {
    return 0;
}
static void *initializes_cancelled(void *) {
    pthread_cancel(pthread_self());
    CHECK_IS(lazy_once_init(&cancelled), LAZY_OK);
    return &cancelled;
}
static int32_t ends_thread(void *) {
    pthread_exit(nullptr);
}
static void *initializes_ending(void *) {
    lazy_once_init(&ending);
    return nullptr;
}
static int thrown_by(lazy_once *which) {
    try {
        lazy_once_init(which);
    } catch (int number) {
        return number;
    }
    return 0;
}

int main() {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = throws;
    CHECK_IS(lazy_once_call(&once, throws, nullptr), LAZY_QUEUED);
    observe();
    CHECK_IS(thrown_by(&once), 7);
    CHECK_EVENTS(LAZY_EVENT_REQUEST, 1);
    CHECK_EVENTS(LAZY_EVENT_ATTEMPT, 1);
    CHECK_IS(events[2].event.status, LAZY_E_DEFERRED);
    CHECK_IS(events[3].event.status, LAZY_E_DEFERRED);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);

    CHECK_IS(lazy_once_submit(&ending, &request, nullptr), LAZY_QUEUED);
    CHECK_IS(thrown_by(&ending), 7);
    CHECK_EVENTS(LAZY_EVENT_REQUEST, 2);
    CHECK_IS(lazy_once_close(&ending), LAZY_OK);
    ending = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_call(&ending, ends_thread, nullptr), LAZY_QUEUED);
    join(start(initializes_ending, nullptr));
    CHECK_EVENTS(LAZY_EVENT_REQUEST, 3);
    CHECK_EVENTS(LAZY_EVENT_ATTEMPT, 3);
    check_nesting();
    CHECK_IS(lazy_once_close(&ending), LAZY_OK);

    observe_with(tests_cancel, nullptr);
    CHECK_IS(lazy_once_call(&cancelled, nothing_at_all, nullptr), LAZY_QUEUED);
    CHECK(join(start(initializes_cancelled, nullptr)) == &cancelled);
    observe_no_more();
    return finish();
}
