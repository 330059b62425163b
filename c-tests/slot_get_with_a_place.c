// Guards against a lazy_slot_get_slow that does not tell the place that it is given, or tells it of another index or after it is gone: a
// waiter names where the factory was asked for, though that call has returned by the end of the wait, and its strings with it.
#include "observed.h"
#include "dumped.h"
#include "callers.h"

enum { FIRST = 3, SECOND = 5 };
static hold making[2] = { HOLD_INIT, HOLD_INIT };
static gate is_gone = GATE_INIT;

static int32_t create(void *ctx, uint32_t index, void **value) {
    *value = ctx;
    return held(&making[index == SECOND]);
}
static const lazy_slot_config config = { .size = sizeof(lazy_slot_config), .name = "the slot", .create = create,
                                         .scope = LAZY_SLOT_PROCESS };
static lazy_slot slot = LAZY_SLOT_INIT(&config);

/* The place goes with the call. */
static lazy_status gets_at(uint32_t index, const char *file, uint32_t line) {
    char *copy = strdup(file), function[] = "asks";
    lazy_site site = { copy, line, function };
    void *value = &value;
    lazy_status status = lazy_slot_get_slow(&slot, index, &value, &site);
    CHECK(value == NULL);
    memset(copy, '?', strlen(copy));
    free(copy);
    memset(function, '?', sizeof function - 1);
    return status;
}
static lazy_status makes_first(void *file) {
    lazy_status status = gets_at(FIRST, (const char *)file, 10);
    gate_open(&is_gone);
    return status;
}
static lazy_status makes_second(void *file) {
    return gets_at(SECOND, (const char *)file, 20);
}
static lazy_status waits(void *file) {
    return gets_at(FIRST, (const char *)file, 30);
}

/* Reads what the end of the wait tells when the maker's call is over. */
static void on_event(void *ctx, const lazy_event *event) {
    if (event->duration_ns != 0) gate_wait(&is_gone);
    keep_event(ctx, event);
}
static void check_place(char *text, int thread, const char *does, uint32_t line) {
    char said[160], *at = strchr(text, '\0');
    snprintf(said, sizeof said, "thread %d has %s", thread, does);
    while (at > text && strncmp(at, said, strlen(said))) at--;
    CHECK_HAS(at, said);
    char *found = strndup(at, strcspn(at, "\n"));
    snprintf(said, sizeof said, ", called at maker.py:%u (asks)", line);
    CHECK_HAS(found, said);
    free(found);
}

int main(void) {
    char file[] = "maker.py";
    caller first, second, waiter;
    observe_with(on_event, NULL);
    begin(&first, makes_first, file);
    begin(&second, makes_second, file);
    gate_wait(&making[0].inside);
    gate_wait(&making[1].inside);
    begin(&waiter, waits, file);
    until_waiting(&waiter);
    char *text = dumped();
    check_place(text, atomic_load(&first.id), "been inside the factory for index 3", 10);
    check_place(text, atomic_load(&second.id), "been inside the factory for index 5", 20);
    check_place(text, atomic_load(&waiter.id), "waited ", 30);
    free(text);
    gate_open(&making[0].go);
    gate_open(&making[1].go);
    CHECK_IS(ended(&first), LAZY_OK);
    CHECK_IS(ended(&second), LAZY_OK);
    CHECK_IS(ended(&waiter), LAZY_OK);
    observe_no_more();
    CHECK_IS(event_count, 2);
    check_nesting();
    for (int i = 0; i < 2; i++) {
        CHECK_IS(events[i].event.kind, LAZY_EVENT_WAIT);
        CHECK_IS(events[i].event.ticket, FIRST);
        CHECK_IS(events[i].event.site.line, 10);
        CHECK_IS(strcmp(events[i].file, "maker.py"), 0);
        CHECK_IS(strcmp(events[i].function, "asks"), 0);
    }

    void *value = NULL;
    CHECK_IS(lazy_slot_get_slow(&slot, FIRST, &value, NULL), LAZY_OK);
    CHECK_IS(lazy_slot_get_slow(NULL, FIRST, &value, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_slot_get_slow(&slot, FIRST, NULL, NULL), LAZY_E_INVALID);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_IS(lazy_slot_get_slow(&slot, FIRST, &value, NULL), LAZY_E_CLOSED);
    return finish();
}
