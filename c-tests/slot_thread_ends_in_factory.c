// flags: -fexceptions
// Guards against a thread that ends inside a factory, by pthread_exit or cancelled, and leaves the index taken: the value can
// be made by others, a waiter of that try hears of it, the thread's other values are destroyed, and retire has nobody to wait
// for.
#include "callers.h"
#include "slots.h"
#include "thread_ends.h"

static lazy_slot slot, other;
static ending end;
static int ends;

static int32_t make_or_end(void *ctx, uint32_t index, void **value) {
    if (ADD(ends, -1) > 0) {
        *value = &end;
        end_here(&end);
    }
    return make(ctx, index, value);
}
/* Apart from the thread's own frame, which is to have nothing on the stack: a sanitizer does not clean up after such an end. */
__attribute__((noinline)) static void use_other(void) {
    get_new(&other, 0);
    get_new(&other, 1);
}
static void *ends_inside(void *ctx) {
    static void *value;
    use_other();
    lazy_slot_get(&slot, 0, &value);
    CHECK(!"the thread came back");
    return ctx;
}

int main(void) {
    for (int i = 0; i < 2 * WAYS; i++) {
        uint32_t scope = i / WAYS ? LAZY_SLOT_PROCESS : LAZY_SLOT_THREAD;
        lazy_slot_config config = ITEMS("left", scope), other_config = ITEMS("other", LAZY_SLOT_THREAD);
        look_up waiting = { &slot, 0, NULL };
        caller waiter;
        config.create = make_or_end;
        slot = (lazy_slot)LAZY_SLOT_INIT(&config);
        other = (lazy_slot)LAZY_SLOT_INIT(&other_config);
        SET(ends, 1);
        end = ENDING((way)(i % WAYS));
        pthread_t thread = start(ends_inside, NULL);
        gate_wait(&end.inside);
        if (scope == LAZY_SLOT_PROCESS) {
            begin(&waiter, in_get, &waiting);
            until_waiting(&waiter);
        }
        end_thread(&end, thread);
        if (scope == LAZY_SLOT_PROCESS) {
            CHECK_IS(ended(&waiter), LAZY_E_CALLBACK);
            CHECK_IS(waiter.error.code, 0);
            CHECK_HAS(waiter.message, "end of its thread");
        }
        CHECK(waiting.value == NULL);
        get_new(&slot, 0);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_BALANCE();
    }
    return finish();
}
