// Guards against an error that does not say which slot it is about, or lacks a field: each failure has the slot's name, this
// thread's id and a sentence; a failed factory also has its code, its text and, as cause, the last call that failed inside it;
// no earlier failure is taken for one of these.
#include "slots.h"

static lazy_once broken;
static lazy_slot slot;
static int32_t breaks(void *ctx) {
    (void)ctx;
    return lazy_fail(21, "the bus is down");
}
static int32_t fails_inside(void *ctx, uint32_t index, void **value) {
    (void)ctx;
    if (index == 0) return make(ctx, index, value);
    if (index == 1) {
        CHECK_IS(lazy_once_run(&broken, breaks, NULL), LAZY_E_INIT);
        return lazy_fail(31, "no handle without the bus");
    }
    return 32; /* without a text */
}
static const lazy_error *failed(uint32_t index, lazy_status status) {
    check_get(&slot, index, status);
    const lazy_error *error = lazy_last_error();
    CHECK_HAS(error->message, "per-device handles");
    CHECK(error->once == NULL || strcmp(error->once, "per-device handles") == 0);
    CHECK_IS(error->thread, thread_id());
    return error;
}
static void *fails(void *ctx) {
    lazy_fail(99, "of long ago");
    for (int i = 0; i < 2; i++) {
        const lazy_error *error = failed(1, LAZY_E_CALLBACK);
        CHECK_IS(error->code, 31);
        CHECK_HAS(error->message, "no handle without the bus");
        CHECK(error->cause != NULL);
        CHECK_IS(error->cause->status, LAZY_E_INIT);
        CHECK_IS(error->cause->code, 21);
        CHECK_HAS(error->cause->message, "the bus is down");
        error = failed(2, LAZY_E_CALLBACK);
        CHECK_IS(error->code, 32);
        CHECK(error->cause == NULL);
        CHECK(!strstr(error->message, "long ago") && !strstr(error->message, "the bus"));
    }
    return ctx;
}

int main(void) {
    for (uint32_t scope = 0; scope < 2; scope++) {
        lazy_slot_config config = ITEMS("per-device handles", scope);
        config.create = fails_inside;
        slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        fails(NULL);
        join(start(fails, NULL));
        item *mine = get_new(&slot, 0);
        lazy_slot_config renamed = config;
        renamed.name = "renamed";
        CHECK_IS(lazy_slot_configure(&slot, &renamed), LAZY_E_TOO_LATE);
        CHECK_HAS(lazy_last_error()->message, "per-device handles");
        CHECK(get_present(&slot, 0) == mine);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        check_get(&slot, 0, LAZY_E_CLOSED);
        CHECK_HAS(lazy_last_error()->message, "retired"); /* it keeps no name */
    }
    lazy_slot_config nothing_there = { .size = sizeof nothing_there, .name = "per-device handles", .destroy = destroy };
    slot = (lazy_slot)LAZY_SLOT_INIT(&nothing_there);
    failed(5, LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    slot = (lazy_slot)LAZY_SLOT_INIT(NULL); /* nobody named it */
    check_get(&slot, 0, LAZY_E_NOT_FOUND);
    CHECK(strlen(lazy_last_error()->message) > 0);
    CHECK_BALANCE();
    return finish();
}
