// flags: -fexceptions
// Guards against a thread that ends, by pthread_exit or cancelled, before it owns an attempt: in prepare or in can_init.
// No attempt is counted, nobody is left waiting, others initialize meanwhile and afterwards, and the queue is whole.
#include "thread_ends.h"
#include "waiters.h"

static lazy_once once;
static ending end;
static atomic_int calls, initialized;

static int32_t leaves_first(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&calls, 1) > 0) return 0;
    end_here(&end);
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&initialized, 1);
    return 0;
}
static void *ending_thread(void *ctx) {
    (void)ctx;
    lazy_once_init(&once);
    CHECK(!"the thread came back");
    return NULL;
}
static void is(uint32_t phase, uint32_t attempts) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(info.phase, phase);
    CHECK_IS(info.attempts, attempts);
}
static void end_one(way how, bool in_prepare, bool others_first) {
    lazy_config config = { .size = sizeof config, .name = "left", .initialize = initialize };
    if (in_prepare)
        config.prepare = leaves_first;
    else
        config.can_init = leaves_first;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    end = ENDING(how);
    atomic_store(&calls, 0);
    atomic_store(&initialized, 0);
    atomic_store(&handed_in_ran, 0);
    pthread_t thread = start(ending_thread, NULL);
    gate_wait(&end.inside);
    CHECK_IS(wait_in_call(&once), LAZY_QUEUED);
    is(LAZY_FRESH, 0);
    if (others_first) {
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_IS(atomic_load(&calls), 2);
        end_thread(&end, thread);
    } else {
        end_thread(&end, thread);
        is(LAZY_FRESH, 0);
        CHECK_IS(wait_in_call(&once), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
    }
    is(LAZY_READY, 1);
    CHECK_IS(atomic_load(&initialized), 1);
    CHECK_IS(atomic_load(&handed_in_ran), others_first ? 1 : 2);
    CHECK_IS(wait_in_call(&once), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    for (int how = 0; how < WAYS; how++)
        for (int i = 0; i < 4; i++) end_one((way)how, i / 2, i % 2);
    return finish();
}
