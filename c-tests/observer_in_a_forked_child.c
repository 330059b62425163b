// not-under: tsan asan valgrind: the allocator of the tool is not made for a signal handler that forks, and the first delivers signals where it likes
// Guards against a child that is told nothing of its fork, counts the parent's other threads among those that are inside on_event and waits
// for them for ever, or loses the attempt in which it was forked.
#include "observed.h"
#include "forked_child.h"

static lazy_once before = LAZY_ONCE_INIT, held_up = LAZY_ONCE_INIT, after = LAZY_ONCE_INIT, forking = LAZY_ONCE_INIT;
static gate inside = GATE_INIT, go = GATE_INIT;
static int forks_in_event, parent;

static void stays_inside(void *ctx, const lazy_event *event) {
    keep_event(ctx, event);
    if (thread_id() == parent || getpid() != parent) return;
    gate_open(&inside);
    gate_wait(&go);
}
static void child_of_a_busy_parent(void) {
    event_count = 0;
    CHECK_IS(lazy_once_init(&after), LAZY_OK);
    CHECK_IS(events[0].event.kind, LAZY_EVENT_FORK);
    CHECK_IS(events[0].event.duration_ns, 0);
    CHECK_IS(events[0].event.thread, getpid());
    CHECK(events[0].event.time_ns > 0 && events[0].event.time_ns <= events[1].event.time_ns);
    CHECK_IS(event_count, 3);
    CHECK_IS(count_events(LAZY_EVENT_FORK, 0), 1);
    observe_no_more(); /* the thread that is inside is not here */
    CHECK_IS(lazy_once_init(&held_up), LAZY_OK);
    CHECK_IS(event_count, 3);
}
static void child_of_an_event(void) {
    observe(); /* from the inside: waits for nobody */
}
static void forks(void *ctx, const lazy_event *event) {
    (void)ctx, (void)event;
    if (forks_in_event++ == 0) in_child(child_of_an_event);
}
static int32_t forks_in_callback(void *ctx) {
    (void)ctx;
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) check_child(child);
    return 0;
}

static int waiting_child, remover_id;
static void fork_here(int signal) {
    (void)signal;
    SET(waiting_child, (int)fork());
}
static void *removes(void *arg) {
    SET(remover_id, thread_id());
    observe_no_more();
    if (getpid() != parent) _exit(0);
    return arg;
}
/* The thread that waits for the running call forks in a signal handler: its child has nobody to wait for. */
static void fork_while_waiting(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = fork_here;
    action.sa_flags = SA_RESTART;
    CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
    pthread_t remover = start(removes, NULL);
    while (!COUNT(remover_id)) sched_yield();
    until_asleep(COUNT(remover_id));
    CHECK_IS(pthread_kill(remover, SIGUSR1), 0);
    while (!COUNT(waiting_child)) sched_yield();
    check_child(COUNT(waiting_child));
    gate_open(&go);
    join(remover);
}

int main(void) {
    parent = getpid();
    observe_with(stays_inside, NULL);
    CHECK_IS(lazy_once_init(&before), LAZY_OK);
    pthread_t owner = start(initializes, &held_up);
    gate_wait(&inside);
    in_child(child_of_a_busy_parent);
    fork_while_waiting();
    join(owner);
    CHECK_IS(count_events(LAZY_EVENT_FORK, 0), 0); /* in the parent */

    observe_with(forks, NULL);
    CHECK_IS(lazy_once_init(&after), LAZY_OK);
    CHECK_IS(forks_in_event, 2);

    observe();
    event_count = 0;
    CHECK_IS(lazy_once_call(&forking, forks_in_callback, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&forking), LAZY_OK);
    if (getpid() != parent) {
        CHECK_IS(count_events(LAZY_EVENT_FORK, 0), 1);
        CHECK_IS(events[2].event.kind, LAZY_EVENT_FORK); /* before the end of the callback that forked */
        CHECK_IS(event_count, 5);
        _exit(0);
    }
    CHECK_IS(event_count, 4);
    check_nesting();
    observe_no_more();
    return finish();
}
