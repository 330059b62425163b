// Guards against the first cause getting lost: through three onces each error leads to the one below, for the thread
// that failed and for one that waited; only the last failing call inside the callback is the cause; and what fails
// while an error is being reported, in describe and in drop, takes no part in it.
#include "callers.h"

static hold cable = HOLD_INIT;
static lazy_once innermost, middle, outer, plain;

static int32_t starts_middle(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&plain, NULL, NULL), LAZY_E_INVALID); /* an earlier failure, which was dealt with */
    CHECK_IS(lazy_once_init(&innermost), LAZY_E_INIT);
    CHECK_IS(lazy_once_call(&plain, nothing, NULL), LAZY_QUEUED); /* a success is no cause */
    return lazy_fail(2, "no bus");
}
static int32_t starts_outer(void *ctx) {
    (void)ctx;
    return lazy_once_init(&middle) < 0 ? lazy_fail(3, "no device") : 0;
}
static void check_chain(const lazy_error *error) {
    static const struct { const char *once, *text; int code; } links[] = {
        { "outer", "no device", 3 }, { "middle", "no bus", 2 }, { "innermost", "it was held and failed", 1 }
    };
    for (int i = 0; i < 3; i++, error = error->cause) {
        CHECK(error != NULL);
        CHECK_IS(error->status, LAZY_E_INIT);
        CHECK_IS(error->code, links[i].code);
        CHECK_HAS(error->message, links[i].text);
        CHECK(!strcmp(error->once, links[i].once));
        CHECK_IS(error->attempt, 1);
    }
    CHECK(error == NULL);
}
static lazy_status starts_all(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_call(&plain, NULL, NULL), LAZY_E_INVALID); /* outside: no cause of anything */
    lazy_status status = lazy_once_init(&outer);
    check_chain(lazy_last_error());
    return status;
}

static atomic_int dropped;
static void fails_too(void) {
    static lazy_once other = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_run(&other, starts_middle, NULL), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->code, 2);
}
static int32_t request_fails(void *inner) {
    if (inner) CHECK_IS(lazy_once_call(&plain, NULL, NULL), LAZY_E_INVALID);
    return lazy_fail(77, "the seed was refused");
}
static void describes_badly(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    fails_too();
    snprintf(buffer, capacity, "the seed of the second generator");
}
static void drops_badly(void *ctx) {
    (void)ctx;
    fails_too();
    lazy_fail(78, "said by a drop");
    atomic_fetch_add(&dropped, 1);
}

int main(void) {
    static lazy_once reporting[2];
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner, waiter;
    config.name = "innermost";
    config.initialize = held;
    config.ctx = &cable;
    CHECK_IS(lazy_once_configure(&innermost, &config), LAZY_OK);
    config.name = "middle";
    config.initialize = starts_middle;
    CHECK_IS(lazy_once_configure(&middle, &config), LAZY_OK);
    config.name = "outer";
    config.initialize = starts_outer;
    CHECK_IS(lazy_once_configure(&outer, &config), LAZY_OK);
    atomic_store(&cable.code, 1);
    begin(&owner, starts_all, NULL);
    gate_wait(&cable.inside);
    begin(&waiter, starts_all, NULL);
    until_waiting(&waiter);
    gate_open(&cable.go);
    CHECK_IS(ended(&owner), LAZY_E_INIT);
    CHECK_IS(ended(&waiter), LAZY_E_INIT);
    CHECK(!strcmp(owner.message, waiter.message));

    for (int inner = 0; inner < 2; inner++) {
        lazy_request request = LAZY_REQUEST_INIT;
        lazy_config drops = LAZY_CONFIG_INIT;
        drops.on_deferred_failure = LAZY_DEFERRED_DROP;
        CHECK_IS(lazy_once_configure(&reporting[inner], &drops), LAZY_OK);
        request.fn = request_fails;
        request.ctx = inner ? &request : NULL;
        request.describe = describes_badly;
        request.drop = drops_badly;
        CHECK_IS(lazy_once_submit(&reporting[inner], &request, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&reporting[inner]), LAZY_E_DEFERRED);
        const lazy_error *error = lazy_last_error();
        CHECK_IS(error->status, LAZY_E_DEFERRED);
        CHECK_IS(error->code, 77);
        CHECK_HAS(error->message, "the seed was refused");
        CHECK_HAS(error->message, "the seed of the second generator");
        CHECK_IS(error->cause != NULL, inner);
        if (inner) CHECK_IS(error->cause->status, LAZY_E_INVALID);
        CHECK_IS(atomic_load(&dropped), inner + 1);
    }
    return finish();
}
