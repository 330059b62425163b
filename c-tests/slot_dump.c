// Guards against a dump that is silent about slots: each one that has values, or whose first is being made, is there with its name, how many
// there are, and which threads make or end one; and nobody is waited for.
#include "slots.h"
#include "dumped.h"
#include "callers.h"

enum { MANY = 200 };
static hold making = HOLD_INIT, ending = HOLD_INIT;

static int32_t make_held(void *ctx, uint32_t index, void **value) {
    make(ctx, index, value);
    return index == 5 ? held(&making) : 0;
}
static void destroy_held(void *ctx, uint32_t index, void *value) {
    if (index == 9) held(&ending);
    destroy(ctx, index, value);
}
static const lazy_slot_config busy_config = { .size = sizeof(lazy_slot_config), .name = "the busy slot", .create = make_held,
                                              .destroy = destroy_held, .scope = LAZY_SLOT_PROCESS };
static const lazy_slot_config many_config = ITEMS("the large slot", LAZY_SLOT_THREAD), unused_config = ITEMS("the unused slot", 0);
static lazy_slot busy = LAZY_SLOT_INIT(&busy_config), many = LAZY_SLOT_INIT(&many_config), unused = LAZY_SLOT_INIT(&unused_config);

static lazy_status gets(void *index) {
    void *value = NULL;
    return lazy_slot_get(&busy, *(uint32_t *)index, &value);
}
static lazy_status retires(void *slot) {
    return lazy_slot_retire((lazy_slot *)slot);
}

int main(void) {
    CHECK(!lazy_slot_has(&unused, 0));
    char *text = dumped();
    CHECK(strstr(text, "slot \"") == NULL);
    free(text);
    for (uint32_t i = 0; i < MANY; i++) get(&many, i);
    caller maker, retirer;
    uint32_t five = 5;
    begin(&maker, gets, &five);
    gate_wait(&making.inside);
    text = dumped();
    char *line = line_about(text, "the busy slot"), said[96];
    snprintf(said, sizeof said, "slot \"the busy slot\": 0 values, thread %d makes the one at index 5", atomic_load(&maker.id));
    CHECK_IS(strcmp(line, said), 0);
    free(line);
    line = line_about(text, "the large slot");
    CHECK_IS(strcmp(line, "slot \"the large slot\": 200 values"), 0);
    free(line);
    CHECK(strstr(text, "the unused slot") == NULL);
    free(text);
    gate_open(&making.go);
    CHECK_IS(ended(&maker), LAZY_OK);

    get(&busy, 9);
    begin(&retirer, retires, &busy);
    gate_wait(&ending.inside);
    text = dumped();
    line = line_about(text, "the busy slot");
    snprintf(said, sizeof said, "slot \"the busy slot\": 1 value, thread %d ends the one at index 9, being retired",
             atomic_load(&retirer.id));
    CHECK_HAS(line, said);
    free(line);
    free(text);
    gate_open(&ending.go);
    CHECK_IS(ended(&retirer), LAZY_OK);
    CHECK_IS(lazy_slot_retire(&many), LAZY_OK);
    text = dumped();
    CHECK(strstr(text, "slot \"") == NULL);
    free(text);
    CHECK_BALANCE();
    return finish();
}
