// not-under: valgrind: the program that it starts once more would be valgrind itself
// CUDAGraph Trees' containers, which the library makes where they are asked for: what is left is a factory that waits for a thread which asks
// for the same value. Guards against a hang that is not explained: warning, dump and trace name both threads, the slot and the index.
#include "hung.h"

static caller waiter;
static int32_t create(void *ctx, uint32_t index, void **value);
static const lazy_slot_config config = { .size = sizeof(lazy_slot_config), .name = "containers", .create = create, .scope = LAZY_SLOT_PROCESS };
static lazy_slot slot = LAZY_SLOT_INIT(&config);
static lazy_status gets(void *arg) {
    void *value;
    return lazy_slot_get((lazy_slot *)arg, 3, &value);
}
static int32_t create(void *ctx, uint32_t index, void **value) {
    (void)index;
    tell("maker", thread_id());
    begin(&waiter, gets, &slot);
    start(tells_that_it_hangs, &waiter);
    ended(&waiter);
    *value = ctx;
    return 0;
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return gets(&slot) != LAZY_OK;
    pid_t child = hang();
    int maker = told("maker"), waiter_id = told("waiter");
    until_said_of(waiter_id, "has waited 0.");
    until_said("for slot \"containers\", called at ");
    until_said_of(maker, "runs the factory, index 3 (started ");
    until_said(" ago at ");
    ask_for_dump(child);
    until_said_of(waiter_id, "has waited ");
    until_said(" s for index 3 of slot \"containers\", called at ");
    until_said_of(maker, "has been inside the factory for index ");
    until_said("inside the factory for index 3 of slot \"containers\" for ");
    until_said_of(maker, "makes the one at index 3\n");
    end_hang(child);
    CHECK_IS(strcmp(left_open(maker, 0)->cat, "factory"), 0);
    CHECK_IS(strcmp(left_open(maker, 0)->name, "factory of slot \\\"containers\\\", index 3"), 0);
    CHECK_IS(strcmp(left_open(waiter_id, 0)->name, "wait for slot \\\"containers\\\", index 3"), 0);
    return finish();
}
