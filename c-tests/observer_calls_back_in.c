// Guards against an observer that hangs the once it is told of, changes what happens or is told of itself: on_event may use the very once,
// another, one that fails, the dump, and cancel what is running.
#include "observed.h"
#include "dumped.h"
#include "callers.h"

static lazy_once once = LAZY_ONCE_INIT, other = LAZY_ONCE_INIT, failing = LAZY_ONCE_INIT;
static uint64_t cancelled;

static int32_t fails(void *ctx) {
    (void)ctx;
    return lazy_fail(9, "the other one failed");
}
static int32_t fails_without_a_word(void *ctx) {
    (void)ctx;
    return 5;
}
static void uses_everything(void *ctx, const lazy_event *event) {
    keep_event(ctx, event);
    errno = 4;
    if (event->duration_ns == 0 || event->kind != LAZY_EVENT_ATTEMPT) CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_init(&other), LAZY_OK);
    CHECK_IS(lazy_once_run(&failing, fails, NULL), LAZY_E_INIT);
    CHECK_HAS(lazy_last_error()->message, "the other one failed");
    free(dumped());
    if (event->kind == LAZY_EVENT_REQUEST && event->ticket == cancelled)
        CHECK_IS(lazy_once_cancel(&once, cancelled), LAZY_IN_PROGRESS);
}

int main(void) {
    job last = { 'l', 0, 0, 0, 0 };
    CHECK_IS(lazy_once_call(&once, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, fails_without_a_word, NULL), LAZY_QUEUED);
    cancelled = queue_job(&once, &last);
    observe_with(uses_everything, NULL);
    errno = 3;
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_IS(errno, 3);
    /* What failed inside on_event is neither the text nor the cause of the callback's failure. */
    CHECK(strstr(lazy_last_error()->message, "the other one failed") == NULL);
    CHECK(lazy_last_error()->cause == NULL);
    CHECK_IS(lazy_last_error()->code, 5);
    CHECK_EVENTS(LAZY_EVENT_ATTEMPT, 1);
    CHECK_EVENTS(LAZY_EVENT_REQUEST, 2);
    observe_no_more();
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);

    static lazy_once keyed = LAZY_ONCE_INIT;
    memcpy(&once, &keyed, sizeof once);
    cancelled = queue_job(&once, &last);
    event_count = 0;
    observe_with(uses_everything, NULL);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    observe_no_more();
    CHECK_EVENTS(LAZY_EVENT_ATTEMPT, 1);
    CHECK_EVENTS(LAZY_EVENT_REQUEST, 1);
    CHECK_JOB(last, 1, 2);
    check_nesting();
    return finish();
}
