// flags: -fexceptions
// Guards against a wait for a host's lock that is not told, is taken for a wait for the once, or lasts into what runs under the lock,
// or does not say which call waits; and against lazy_set_observer waiting with the host's lock held, which on_event may need.
#include "observed.h"
#include "big_lock.h"
#include "callers.h"

static big_lock lock;
static lazy_once once = LAZY_ONCE_INIT, refused = LAZY_ONCE_INIT, another = LAZY_ONCE_INIT;
static stop stopped = STOP_INIT;
static gate inside = GATE_INIT, go = GATE_INIT;

static int32_t lets_go(void *ctx) {
    int depth = big_let_go(&lock);
    run_stop(ctx);
    big_take_back(&lock, depth);
    return 0;
}
static lazy_status init_with_lock(void *arg) {
    big_take(&lock);
    lazy_status status = LAZY_INIT((lazy_once *)arg);
    big_give(&lock);
    return status;
}
static void needs_the_lock(void *ctx, const lazy_event *event) {
    (void)ctx;
    if (event->kind != LAZY_EVENT_HOST_WAIT || event->duration_ns) return;
    gate_open(&inside);
    gate_wait(&go);
    big_take(&lock);
    big_give(&lock);
}
static void *removes_with_lock(void *ctx) {
    big_take(&lock);
    SET(*(int *)ctx, thread_id());
    observe_no_more();
    CHECK_DEPTH(&lock, 1);
    big_give(&lock);
    return NULL;
}

int main(void) {
    big_begin(&lock, 0, "the big lock");
    CHECK_IS(lazy_set_host(&lock.host), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, lets_go, &stopped), LAZY_QUEUED);
    observe();
    caller owner, waiter;
    begin(&owner, in_init, &once);
    gate_wait(&stopped.reached);
    begin(&waiter, init_with_lock, &once);
    until_waiting(&waiter);
    gate_open(&stopped.go_on);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&waiter), LAZY_OK);
    CHECK_EVENTS(LAZY_EVENT_HOST_WAIT, 3); /* to take it, twice, and to take it back after the wait */
    CHECK_EVENTS(LAZY_EVENT_WAIT, 1);
    check_nesting();
    for (int i = 0, depth = 0; i < event_count; i++) { /* nothing runs inside one */
        if (events[i].event.thread != (uint64_t)atomic_load(&owner.id)) continue;
        CHECK(depth == 0 || events[i].event.kind == LAZY_EVENT_HOST_WAIT);
        if (events[i].event.kind == LAZY_EVENT_HOST_WAIT) depth = !is_end(&events[i]);
    }
    for (int i = 0, line = 0; i < event_count; i++) { /* each names the line that called, before the wait and after it */
        if (events[i].event.thread != (uint64_t)atomic_load(&waiter.id) || events[i].event.kind != LAZY_EVENT_HOST_WAIT) continue;
        CHECK(strstr(events[i].file, "observer_host_waits.c") != NULL);
        CHECK_IS(events[i].event.site.line, line ? line : (line = (int)events[i].event.site.line));
        CHECK(line > 0);
    }
    event_count = 0;
    SET(lock.refuses, 5);
    CHECK_IS(lazy_once_init(&refused), LAZY_E_HOST);
    SET(lock.refuses, 0);
    CHECK_IS(event_count, 2);
    CHECK_IS(events[1].event.kind, LAZY_EVENT_HOST_WAIT);
    CHECK_IS(events[1].event.status, LAZY_E_HOST);

    observe_with(needs_the_lock, NULL);
    pthread_t initializer = start(initializes, &another);
    gate_wait(&inside);
    int id = 0;
    pthread_t remover = start(removes_with_lock, &id);
    while (!COUNT(id)) sched_yield();
    until_asleep(COUNT(id));
    gate_open(&go);
    join(initializer);
    join(remover);
    CHECK_IS(lazy_set_host(NULL), LAZY_OK);
    return finish();
}
