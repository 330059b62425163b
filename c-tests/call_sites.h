/* For gate_lazy_call_records_the_line.c and .cpp: LAZY_CALL and LAZY_CALL_HELD as expressions in either language. */
#include "requests.h"

static lazy_once once;
static int evaluated, ran;

static int32_t fails_first(void *ctx) {
    (void)ctx;
    return ran++ == 0 ? lazy_fail(5, "not yet") : 0;
}
static int32_t succeeds(void *ctx) {
    ADD(*(int *)ctx, 1);
    return 0;
}
static lazy_once *the_once(void) {
    evaluated++;
    return &once;
}
static lazy_fn the_fn(lazy_fn fn) {
    evaluated++;
    return fn;
}
static void check_site(unsigned line) {
    const lazy_error *error = lazy_last_error();
    CHECK_IS(error->status, LAZY_E_DEFERRED);
    CHECK(!strcmp(error->site.file, __FILE__));
    CHECK_IS(error->site.line, line);
    CHECK(!strcmp(error->site.function, "queue_and_fail"));
    CHECK_HAS(error->message, "call_sites.h");
    CHECK_HAS(error->message, "not yet");
}
static void queue_and_fail(void) {
    unsigned line;
    ran = 0;
    CHECK_IS(LAZY_CALL(&once, fails_first, NULL), LAZY_QUEUED), line = __LINE__;
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    check_site(line);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    ran = 0;
    CHECK_IS(LAZY_CALL_HELD(&once, fails_first, NULL), LAZY_QUEUED), line = __LINE__;
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    check_site(line);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
}
/* Each argument is evaluated once, before and after READY; they can stand wherever an expression can. */
static void use_as_expressions(void) {
    int calls = 0;
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    for (int ready = 0; ready < 2; ready++) {
        evaluated = 0;
        lazy_status status = (LAZY_CALL(the_once(), the_fn(succeeds), (evaluated++, &calls)));
        CHECK_IS(status, ready ? LAZY_OK : LAZY_QUEUED);
        CHECK_IS(evaluated, 3);
        status = evaluated == 3 ? LAZY_CALL_HELD(the_once(), the_fn(succeeds), (evaluated++, &calls)) : LAZY_E_INVALID;
        CHECK_IS(status, ready ? LAZY_OK : LAZY_QUEUED);
        CHECK_IS(evaluated, 6);
        CHECK_IS(calls, ready ? 4 : 0);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_IS(calls, ready ? 4 : 2);
    }
    ran = 0;
    CHECK_IS(LAZY_CALL(&once, fails_first, NULL), LAZY_E_CALLBACK);
    CHECK_HAS(lazy_last_error()->message, "not yet");
    ran = 0;
    CHECK_IS(LAZY_CALL_HELD(&once, fails_first, NULL), LAZY_E_CALLBACK);
    CHECK_HAS(lazy_last_error()->message, "not yet");
    CHECK_IS(lazy_last_error()->code, 5);
}
