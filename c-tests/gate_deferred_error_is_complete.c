// Guards against an error that does not lead back to the request: site, ticket, code, the `describe` text and the `lazy_fail`
// text are in it, for every policy; a failing call inside `describe` neither replaces it nor becomes its cause; a long, an
// empty and a missing description do no harm; a plain call has a ticket too, by which it can be cancelled.
#include "requests.h"

static const lazy_config configs[] = {
    { .size = sizeof(lazy_config), .name = "the device", .on_deferred_failure = LAZY_DEFERRED_KEEP },
    { .size = sizeof(lazy_config), .name = "the device", .on_deferred_failure = LAZY_DEFERRED_DROP },
    { .size = sizeof(lazy_config), .name = "the device", .on_deferred_failure = LAZY_DEFERRED_CONTINUE },
};
static lazy_once onces[] = { LAZY_ONCE_WITH(&configs[0]), LAZY_ONCE_WITH(&configs[1]), LAZY_ONCE_WITH(&configs[2]) };
static lazy_once plain, worded[3];

static int32_t fails(void *ctx) {
    (void)ctx;
    return lazy_fail(77, "the generator refused the seed");
}
static void describe(void *ctx, char *buffer, size_t capacity) {
    CHECK(capacity > 0);
    lazy_fail(77, "said too late");
    CHECK_IS(lazy_once_cancel(&plain, UINT64_MAX), LAZY_E_NOT_FOUND);
    snprintf(buffer, capacity, "manual_seed(%d)", *(int *)ctx);
}
static void describe_at_length(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    memset(buffer, 'x', capacity); /* every byte that is offered */
    buffer[capacity - 1] = 0;
}
static void describe_nothing(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    if (capacity > 0) buffer[0] = 0;
}

int main(void) {
    int seed = 1234;
    for (int i = 0; i < 3; i++) {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = fails;
        request.ctx = &seed;
        request.describe = describe;
        request.site = LAZY_HERE; const uint32_t line = __LINE__;
        uint64_t ticket = queue_request(&onces[i], request);
        CHECK_IS(lazy_once_init(&onces[i]), LAZY_E_DEFERRED);
        const lazy_error *error = lazy_last_error();
        CHECK_IS(error->status, LAZY_E_DEFERRED);
        CHECK_IS(error->code, 77);
        CHECK_IS(error->ticket, ticket);
        CHECK_IS(error->attempt, 1);
        CHECK_IS(error->thread, thread_id());
        CHECK(error->cause == NULL);
        CHECK(!strcmp(error->once, "the device"));
        CHECK(!strcmp(error->site.file, __FILE__));
        CHECK_IS(error->site.line, line);
        CHECK(!strcmp(error->site.function, "main"));
        CHECK_HAS(error->message, "manual_seed(1234)");
        CHECK_HAS(error->message, "the generator refused the seed");
        CHECK_HAS(error->message, "the device");
        CHECK_HAS(error->message, "gate_deferred_error_is_complete.c");
        CHECK(!strstr(error->message, "said too late"));
        CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
        CHECK(!strcmp(error->site.function, "main")); /* the error outlives its once */
    }

    void (*const descriptions[])(void *, char *, size_t) = { describe_at_length, describe_nothing, NULL };
    for (int i = 0; i < 3; i++) {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = fails;
        request.describe = descriptions[i];
        uint64_t ticket = queue_request(&worded[i], request);
        CHECK_IS(lazy_once_init(&worded[i]), LAZY_E_DEFERRED);
        CHECK_HAS(lazy_last_error()->message, "the generator refused the seed");
        if (i == 0) CHECK_HAS(lazy_last_error()->message, "xxxxxxxxxxxxxxx");
        CHECK_IS(lazy_once_cancel(&worded[i], ticket), LAZY_OK);
    }

    CHECK_IS(lazy_once_call(&plain, fails, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&plain), LAZY_E_DEFERRED);
    CHECK(lazy_last_error()->ticket != 0);
    CHECK_IS(lazy_once_cancel(&plain, lazy_last_error()->ticket), LAZY_OK);
    CHECK_IS(lazy_once_init(&plain), LAZY_OK);
    return finish();
}
