// not-under: tsan: it waits at exit for what other threads are at
// Guards against a process that cannot end: main calls exit, quick_exit or _Exit, or returns, while other threads are in prepare,
// in can_init, in the initializer, in a request, in a drop, wait for one, or own a lent permit; and a thread calls exit inside
// each of these. The process ends at once, with that status.
#include "callers.h"
#include "forked_child.h"
#include "requests.h"

typedef enum place { IN_PREPARE, IN_CAN_INIT, IN_INITIALIZER, IN_REQUEST, IN_DROP, IN_WAIT, IN_PERMIT, PLACES } place;
typedef enum way { BY_EXIT, BY_QUICK_EXIT, BY_UNDERSCORE_EXIT, WAYS } way;
enum { STATUS = 23 };
static place here;
static way leaves;
static int from_inside;
static gate reached = GATE_INIT, never_opens = GATE_INIT;
static lazy_once once;
static lazy_permit permit;

static void leave(void) {
    if (leaves == BY_EXIT) exit(STATUS);
    if (leaves == BY_QUICK_EXIT) quick_exit(STATUS);
    _Exit(STATUS);
}
static int32_t come_to(place there) {
    if (here != there) return 0;
    if (from_inside) leave();
    gate_open(&reached);
    gate_wait(&never_opens);
    return 0;
}
static int32_t prepare(void *ctx) { return (void)ctx, come_to(IN_PREPARE); }
static int32_t can_init(void *ctx) { return (void)ctx, come_to(IN_CAN_INIT); }
static void *waits(void *ctx) {
    caller waiter;
    begin(&waiter, in_init, &once);
    until_waiting(&waiter);
    come_to(IN_WAIT);
    return ctx;
}
static void *borrows(void *ctx) {
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    come_to(IN_PERMIT);
    return ctx;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    if (here == IN_WAIT) join(start(waits, NULL));
    if (here == IN_PERMIT) CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK), join(start(borrows, NULL));
    return come_to(IN_INITIALIZER);
}
static int32_t request(void *ctx) { return (void)ctx, come_to(IN_REQUEST); }
static void drop(void *ctx) { (void)ctx, come_to(IN_DROP); }

static void process(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request last = LAZY_REQUEST_INIT;
    caller owner;
    config.prepare = prepare;
    config.can_init = can_init;
    config.initialize = initialize;
    last.fn = request;
    last.drop = drop;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    queue_request(&once, last);
    begin(&owner, in_init, &once);
    gate_wait(&reached); /* not if the other thread ends the process */
    leave();
}
static void check_process(void) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        process();
        _exit(1);
    }
    CHECK_IS(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS) return;
    fprintf(stderr, "place %d, way %d, from inside %d: the process ended with %#x\n", here, leaves, from_inside, status);
    CHECK(!"the process ended");
}

int main(void) {
    for (int p = 0; p < PLACES; p++)
        for (int w = 0; w < WAYS; w++)
            for (from_inside = 0; from_inside < 2; from_inside++) {
                here = (place)p;
                leaves = (way)w;
                check_process();
            }
    return finish();
}
