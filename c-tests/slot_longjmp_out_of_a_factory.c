// not-under: tsan asan valgrind: what a longjmp skips is not freed, and the tools follow the stack
// Guards against a value that nobody makes: a longjmp, which is forbidden, leaves its factory. The next get or set of that value by the same
// thread, from a frame that is not deeper, says LAZY_E_DEADLOCK and ends the making, so that a thread that waited for the value gets that error,
// too; the call after it works. So does the end of that thread. A factory that asks for its own value is still told of that.
#include "callers.h"
#include "slots.h"
#include "dumped.h"
#include <setjmp.h>

static lazy_slot slot;
static jmp_buf outside;
static int leaves;
static caller waiter;

static lazy_status gets(void *arg) {
    void *value = NULL;
    return lazy_slot_get((lazy_slot *)arg, 3, &value);
}
static int32_t leave(void *ctx, uint32_t index, void **value) {
    CHECK_IS(gets(&slot), LAZY_E_DEADLOCK);
    CHECK_HAS(lazy_last_error()->message, "asks for that very value");
    CHECK_IS(lazy_slot_set(&slot, 3, &slot), LAZY_E_DEADLOCK);
    CHECK_HAS(lazy_last_error()->message, "stores that very value");
    if (!leaves) return make(ctx, index, value);
    leaves = 0;
    if (ctx) {
        begin(&waiter, gets, &slot);
        until_waiting(&waiter);
    }
    longjmp(outside, 1);
}
/* Begins the making deeper than the calls that follow. */
__attribute__((noinline)) static void leave_from_deeper(void) {
    volatile char frame[1024];
    frame[0] = 0;
    CHECK_IS(gets(&slot), frame[0]);
    CHECK(!"the factory was left");
}

static void leave_it(void) {
    leaves = 1;
    if (setjmp(outside) == 0) leave_from_deeper();
}

/* Its thread asks no more. */
static void *leaves_and_ends(void *ctx) {
    leave_it();
    return ctx;
}

int main(void) {
    static int process;
    for (int what = 0; what < 4; what++) {
        bool is_process = what % 2, by_set = what / 2;
        lazy_slot_config config = ITEMS("left", is_process);
        config.create = leave;
        config.ctx = is_process ? &process : NULL;
        slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        leave_it();
        CHECK_IS(by_set ? lazy_slot_set(&slot, 3, &slot) : gets(&slot), LAZY_E_DEADLOCK);
        CHECK_HAS(lazy_last_error()->message, "slot \"left\" was left by longjmp");
        if (is_process) {
            CHECK_IS(ended(&waiter), LAZY_E_DEADLOCK);
            CHECK_HAS(waiter.message, "left by longjmp");
        }
        CHECK(!lazy_slot_has(&slot, 3));
        CHECK_IS(gets(&slot), LAZY_OK);
        CHECK(lazy_slot_has(&slot, 3));
        char *text = dumped();
        CHECK(strstr(text, "inside the factory") == NULL); /* nobody is any more */
        free(text);
        if (is_process) {
            CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
            slot = (lazy_slot)LAZY_SLOT_INIT(&config);
            join(start(leaves_and_ends, NULL));
            CHECK_IS(ended(&waiter), LAZY_E_DEADLOCK);
            CHECK_HAS(waiter.message, "or its thread has ended in it");
            CHECK_IS(gets(&slot), LAZY_OK);
        }
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    }
    return finish();
}
