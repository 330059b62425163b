// Guards against a circle seen where one thread starts three onces inside each other: it owns them all and waits for
// none. Each answers by its own phase, queues and drains its own requests, and a failure at the bottom comes up as a
// chain of causes.
#include "check.h"

static lazy_once a, b, c;
static char events[64];
static int fail_at_bottom;

static int32_t note(void *text) {
    strncat(events, (const char *)text, 1);
    return 0;
}
static void call(lazy_once *once, const char *text, lazy_status status) {
    CHECK_IS(lazy_once_call(once, note, (void *)(size_t)text), status);
}
static void all_in_progress(void) {
    lazy_once *onces[] = { &a, &b, &c };
    for (int i = 0; i < 3; i++) {
        CHECK_IS(lazy_once_init(onces[i]), LAZY_IN_PROGRESS);
        CHECK_IS(lazy_once_init_timeout(onces[i], 0), LAZY_IN_PROGRESS);
        CHECK(lazy_once_is_initializing(onces[i]) && !lazy_once_is_initialized(onces[i]));
    }
}
static int32_t drain_of_c(void *ctx) {
    (void)ctx;
    all_in_progress();
    call(&c, "1", LAZY_OK);     /* inline: c drains */
    call(&b, "5", LAZY_QUEUED); /* b does not yet */
    call(&a, "8", LAZY_QUEUED);
    return 0;
}
static int32_t initialize_c(void *ctx) {
    (void)ctx;
    if (fail_at_bottom) return lazy_fail(3, "no bottom");
    all_in_progress();
    call(&a, "7", LAZY_QUEUED);
    call(&b, "4", LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&c, drain_of_c, NULL), LAZY_QUEUED);
    call(&c, "2", LAZY_QUEUED);
    return 0;
}
static int32_t drain_of_b(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&a), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_init(&b), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_init(&c), LAZY_OK);
    call(&b, "6", LAZY_OK);
    return 0;
}
static int32_t initialize_b(void *ctx) {
    (void)ctx;
    if (lazy_once_init(&c) < 0) return lazy_fail(2, "no c");
    CHECK(lazy_once_is_initialized(&c) && !lazy_once_is_initializing(&c));
    call(&c, "3", LAZY_OK);
    CHECK_IS(lazy_once_call(&b, drain_of_b, NULL), LAZY_QUEUED);
    return 0;
}
static int32_t initialize_a(void *ctx) {
    (void)ctx;
    if (lazy_once_init(&b) < 0) return lazy_fail(1, "no b");
    CHECK(lazy_once_is_initialized(&b) && !lazy_once_is_initialized(&a));
    call(&a, "9", LAZY_QUEUED);
    return 0;
}
static const lazy_config configs[] = {
    { .size = sizeof(lazy_config), .name = "a", .initialize = initialize_a },
    { .size = sizeof(lazy_config), .name = "b", .initialize = initialize_b },
    { .size = sizeof(lazy_config), .name = "c", .initialize = initialize_c },
};
static lazy_once a = LAZY_ONCE_WITH(&configs[0]), b = LAZY_ONCE_WITH(&configs[1]), c = LAZY_ONCE_WITH(&configs[2]);

int main(void) {
    static const struct { const char *once, *text; } chain[] = { { "a", "no b" }, { "b", "no c" }, { "c", "no bottom" } };
    fail_at_bottom = 1;
    CHECK_IS(lazy_once_init(&a), LAZY_E_INIT);
    const lazy_error *error = lazy_last_error();
    for (int i = 0; i < 3; i++, error = error->cause) {
        CHECK(error != NULL);
        CHECK_IS(error->status, LAZY_E_INIT);
        CHECK_IS(error->code, i + 1);
        CHECK(!strcmp(error->once, chain[i].once));
        CHECK_HAS(error->message, chain[i].text);
    }
    CHECK(error == NULL);
    fail_at_bottom = 0;
    CHECK_IS(lazy_once_init(&a), LAZY_OK);
    CHECK(lazy_once_is_initialized(&a) && lazy_once_is_initialized(&b) && lazy_once_is_initialized(&c));
    CHECK(!strcmp(events, "123456789"));
    return finish();
}
