// Guards against a reset that sleeps for ever: a thread inside the attempt of one once resets another, whose own attempt
// waits for the first. That is a certain circle, and a reset is told so like any other that waits.
#include "callers.h"

static lazy_once first, second;
static gate first_owned = GATE_INIT;
static atomic_int second_owner;

static int32_t resets_second(void *ctx) {
    (void)ctx;
    gate_open(&first_owned);
    while (!atomic_load(&second_owner)) sched_yield();
    until_asleep(atomic_load(&second_owner)); /* it waits for this attempt */
    CHECK_IS(lazy_once_reset(&second), LAZY_E_DEADLOCK);
    CHECK_HAS(lazy_last_error()->message, "\"first\"");
    CHECK_HAS(lazy_last_error()->message, "\"second\"");
    return 0;
}
static int32_t needs_first(void *ctx) {
    (void)ctx;
    gate_wait(&first_owned);
    atomic_store(&second_owner, thread_id());
    return lazy_once_init(&first);
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    caller owners[2];
    config.name = "first";
    config.initialize = resets_second;
    CHECK_IS(lazy_once_configure(&first, &config), LAZY_OK);
    config.name = "second";
    config.initialize = needs_first;
    CHECK_IS(lazy_once_configure(&second, &config), LAZY_OK);
    begin(&owners[0], in_init, &first);
    begin(&owners[1], in_init, &second);
    for (int i = 0; i < 2; i++) CHECK_IS(ended(&owners[i]), LAZY_OK);
    CHECK_IS(info_of(&second).generation, 0);
    CHECK_IS(lazy_once_reset(&second), LAZY_OK);
    return finish();
}
