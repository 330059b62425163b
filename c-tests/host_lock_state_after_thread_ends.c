// flags: -fexceptions
// Guards against a host lock or a gate that stays with a thread that ended, by pthread_exit or cancelled, in its initializer,
// a queued request, one run at once with the lock, prepare or can_init: a thread-exit destructor sees the lock as deep as
// the caller had it, others get the lock, a waiter hears that the attempt ended, and the once works on.
#include "big_lock.h"
#include "callers.h"
#include "thread_ends.h"

enum place { PREPARE, CAN_INIT, INITIALIZE, QUEUED, AT_ONCE, PLACES };
static big_lock lock;
static lazy_once once;
static ending the_end;
static int where = -1, destructed;
static pthread_key_t at_exit;

static int32_t may_end(enum place place) {
    CHECK(place == PREPARE || *big_depth(&lock) > 0);
    if (COUNT(where) != (int)place) return 0;
    SET(where, -1);
    if (the_end.how == LEAVES) end_here(&the_end);
    gate_open(&the_end.inside);
    for (;;) { /* a sanitizer takes no notice of what is unlocked on the way out of a blocking call */
        pthread_testcancel();
        sched_yield();
    }
}
static int32_t prepare(void *ctx) {
    (void)ctx;
    return may_end(PREPARE);
}
static int32_t can_init(void *ctx) {
    (void)ctx;
    return may_end(CAN_INIT);
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    return may_end(INITIALIZE);
}
static int32_t queued(void *ctx) {
    (void)ctx;
    return may_end(QUEUED);
}
static int32_t at_once(void *ctx) {
    (void)ctx;
    return may_end(AT_ONCE);
}
static void at_thread_exit(void *depth) {
    CHECK_DEPTH(&lock, (int)(intptr_t)depth - 1);
    while (*big_depth(&lock)) big_give(&lock);
    ADD(destructed, 1);
}
static void *enters(void *depth) {
    CHECK_IS(pthread_setspecific(at_exit, (void *)((intptr_t)depth + 1)), 0);
    for (int i = 0; i < (int)(intptr_t)depth; i++) big_take(&lock);
    if (COUNT(where) == AT_ONCE)
        LAZY_CALL_HELD(&once, at_once, NULL);
    else
        lazy_once_init(&once);
    CHECK(!"it ended before");
    return NULL;
}
static lazy_status waits(void *ctx) {
    return lazy_once_init((lazy_once *)ctx);
}

int main(void) {
    lazy_config config = { .size = sizeof config, .initialize = initialize, .prepare = prepare, .can_init = can_init,
                           .host = &lock.host };
    CHECK_IS(pthread_key_create(&at_exit, at_thread_exit), 0);
    big_begin(&lock, 0, "lock");
    int ends = 0;
    for (int place = 0; place < PLACES; place++)
        for (int way = 0; way < WAYS; way++)
            for (int depth = 0; depth < 3; depth++) {
                caller waiter;
                once = (lazy_once)LAZY_ONCE_WITH(&config);
                CHECK_IS(lazy_once_call(&once, queued, NULL), LAZY_QUEUED);
                if (place == AT_ONCE) CHECK_IS(lazy_once_init(&once), LAZY_OK);
                SET(where, place);
                the_end = ENDING((enum way)way);
                bool is_attempt = place == INITIALIZE || place == QUEUED;
                big_reset(&lock);
                pthread_t thread = start(enters, (void *)(intptr_t)depth);
                gate_wait(&the_end.inside);
                if (is_attempt) {
                    begin(&waiter, waits, &once);
                    while (COUNT(lock.runs) < 2) sched_yield();
                    until_waiting(&waiter); /* for the host lock */
                }
                end_thread(&the_end, thread);
                CHECK_IS(COUNT(destructed), ++ends);
                big_take(&lock);
                big_give(&lock);
                if (is_attempt) {
                    CHECK_IS(ended(&waiter), place == QUEUED ? LAZY_E_DEFERRED : LAZY_E_INIT);
                    CHECK_IS(waiter.error.code, 0);
                    CHECK_HAS(waiter.message, "end of its thread");
                }
                CHECK_IS(lazy_once_init(&once), LAZY_OK);
                CHECK_DEPTH(&lock, 0);
                CHECK_IS(lazy_once_close(&once), LAZY_OK);
            }
    return finish();
}
