// not-under: tsan: it does not run the destructors of a thread that is cancelled
// Guards against a way out that leaves somebody waiting: an exception, pthread_exit and a cancellation leave every callback that
// the library runs, while threads wait in init, run, call, submit and reset. All of them come back, the way out
// reaches whoever made the call, every drop ran once, and the once can be initialized.
#include "requests.h"
#include <initializer_list>

enum way { THROWS, EXITS, IS_CANCELLED };
enum place { INITIALIZER, QUEUED, OWN, DESCRIBED, DROP, NESTED, AT_ONCE_IN_DRAIN, BEHIND_PERMIT, PLACES };
enum { WAITERS = 6 };
static lazy_once *once, inner;
static way leaves;
static place from;
static int armed, came_out, dropped, asleep_ids[WAITERS], returned;

static void *waits(void *kind_given) {
    int kind = (int)(intptr_t)kind_given;
    SET(asleep_ids[kind], thread_id());
    lazy_status status = 0;
    switch (kind) {
        case 0: status = lazy_once_init(once); break;
        case 1: status = lazy_once_run(once, run_stop, nullptr); break;
        case 2: status = lazy_once_call(once, [](void *) { return 0; }, nullptr); break;
        case 3: status = LAZY_CALL(once, [](void *) { return 0; }, nullptr); break;
        case 4: status = lazy_once_reset(once); break;
        case 5: status = lazy_once_init_timeout(once, UINT64_MAX); break;
    }
    CHECK(status >= 0 || status == LAZY_E_INIT || status == LAZY_E_DEFERRED);
    if (status < 0) CHECK_HAS(lazy_last_error()->message, "left");
    ADD(returned, 1);
    return nullptr;
}
/* A call, so that the address sanitizer clears this stack before it: it does not when a thread is cancelled. */
[[noreturn, gnu::noinline]] static void end_here() {
    pthread_cancel(pthread_self());
    for (;;) pthread_testcancel();
}
/* Starts the waiters, and goes when they sleep. */
static pthread_t threads[WAITERS];
static void leave(place here) {
    if (here != from || !COUNT(armed)) return;
    SET(armed, 0);
    for (int i = 0; i < WAITERS; i++) {
        threads[i] = start(waits, (void *)(intptr_t)i);
        while (!COUNT(asleep_ids[i])) sched_yield();
        until_asleep(COUNT(asleep_ids[i]));
    }
    if (leaves == THROWS) throw 7;
    if (leaves == EXITS) pthread_exit(&came_out);
    end_here();
}
static int32_t plain(void *) { return leave(QUEUED), 0; }
static int32_t at_once(void *) { return leave(AT_ONCE_IN_DRAIN), 0; }
static int32_t own(void *) {
    leave(OWN);
    if (from == NESTED) lazy_once_run(&inner, [](void *) -> int32_t { return leave(NESTED), 0; }, nullptr);
    if (from == AT_ONCE_IN_DRAIN) lazy_once_call(once, at_once, nullptr);
    return from == DESCRIBED ? 3 : 0;
}
static void describe(void *, char *, size_t) {
    if (leaves != THROWS) leave(DESCRIBED); /* it must not throw */
}
static void drop(void *) {
    ADD(dropped, 1);
    leave(DROP);
}
static int32_t initialize(void *) {
    lazy_permit permit;
    leave(INITIALIZER);
    if (from != BEHIND_PERMIT) return 0;
    CHECK_IS(lazy_permit_capture(once, &permit), LAZY_OK);
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK); /* held while it goes */
    leave(BEHIND_PERMIT);
    return lazy_permit_leave(&permit);
}
struct on_the_way { ~on_the_way() { ADD(came_out, 1); } };
static void *owns(void *) {
    on_the_way guard;
    try {
        lazy_once_init(once);
    } catch (int thrown) {
        CHECK_IS(thrown, 7);
        return nullptr;
    }
    return nullptr;
}
static void go() {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    static lazy_once onces[PLACES * 3];
    static int used;
    once = &onces[used++];
    inner = lazy_once LAZY_ONCE_INIT;
    armed = 1;
    came_out = dropped = returned = 0;
    memset(asleep_ids, 0, sizeof asleep_ids);
    config.initialize = initialize;
    request.fn = own;
    request.drop = drop;
    request.describe = describe;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(once, plain, nullptr), LAZY_QUEUED);
    queue_request(once, request);
    join(start(owns, nullptr));
    CHECK_IS(COUNT(came_out), 1);
    if (from == DESCRIBED && leaves == THROWS) return (void)lazy_once_close(once); /* forbidden */
    CHECK_IS(COUNT(armed), 0);
    for (int i = 0; i < WAITERS; i++) join(threads[i]);
    CHECK_IS(COUNT(returned), WAITERS);
    while (lazy_once_init(once) != LAZY_OK) { /* where the request fails by itself, it is withdrawn */
        CHECK_IS(from, DESCRIBED);
        CHECK_IS(lazy_once_cancel(once, lazy_last_error()->ticket), LAZY_OK);
    }
    CHECK_IS(COUNT(dropped), 1);
    CHECK_IS(lazy_once_run(&inner, plain, nullptr), LAZY_OK);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
}

int main() {
    for (way how : { THROWS, EXITS, IS_CANCELLED })
        for (int place_of = 0; place_of < PLACES; place_of++) {
            leaves = how;
            from = (place)place_of;
            go();
        }
    return finish();
}
