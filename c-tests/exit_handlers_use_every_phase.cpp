// Guards against a library that is gone, or a gate that hangs, when a process ends: static destructors, atexit and at_quick_exit
// handlers and a thread's last destructor use a ready, a fresh, a queued, a failed and a draining once. The draining one
// belongs to the thread that calls exit, from inside its own request, or to another thread that will never end it.
#include "forked_child.h"
#include "requests.h"

enum how { RETURNS, EXITS_IN_DRAIN, EXITS_BESIDE_DRAIN, QUICKLY, HOWS };
static how ends;
static lazy_once ready = LAZY_ONCE_INIT, fresh = LAZY_ONCE_INIT, queued = LAZY_ONCE_INIT, failed = LAZY_ONCE_INIT,
                 draining = LAZY_ONCE_INIT;
static int ran, uses;
static stop stopped = STOP_INIT;

static int32_t tick(void *) { return ADD(ran, 1), 0; }
static int32_t fails(void *) { return lazy_fail(3, "at the end"); }

static void use_all() {
    int before = COUNT(ran), first = COUNT(uses) == 0;
    ADD(uses, 1);
    CHECK_IS(lazy_once_call(&ready, tick, nullptr), LAZY_OK);
    CHECK_IS(lazy_once_call(&ready, fails, nullptr), LAZY_E_CALLBACK);
    CHECK_HAS(lazy_last_error()->message, "at the end");
    CHECK_IS(lazy_once_call(&fresh, tick, nullptr), first ? LAZY_QUEUED : LAZY_OK);
    CHECK_IS(lazy_once_init(&fresh), LAZY_OK);
    CHECK_IS(lazy_once_init(&queued), LAZY_OK);
    CHECK_IS(lazy_once_run(&failed, fails, nullptr), LAZY_E_INIT);
    CHECK(lazy_once_named("at exit") != nullptr);
    CHECK_IS(COUNT(ran), before + 2 + first);
    if (ends == EXITS_IN_DRAIN) {
        CHECK_IS(lazy_once_init(&draining), LAZY_IN_PROGRESS);
        CHECK_IS(lazy_once_call(&draining, tick, nullptr), LAZY_OK);
    } else if (ends == EXITS_BESIDE_DRAIN) {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = tick;
        request.flags = LAZY_REQUEST_NO_WAIT;
        CHECK(!lazy_once_is_initialized(&draining) && !lazy_once_is_initializing(&draining));
        CHECK_IS(lazy_once_init_timeout(&draining, 1000), LAZY_E_TIMEOUT);
        lazy_status status = lazy_once_submit(&draining, &request, nullptr);
        CHECK(status == LAZY_QUEUED || status == LAZY_E_NOT_NOW);
    }
}
/* The last of all; so nothing here is left out without a word. */
static struct counts_uses { ~counts_uses() { if (ends != HOWS) CHECK_IS(COUNT(uses), 3); } } counted;
struct at_the_end { ~at_the_end() { if (ends != HOWS) use_all(); } };
static at_the_end last;
static thread_local at_the_end of_thread;

static void end_here() {
    if (ends == QUICKLY) quick_exit(0);
    exit(0);
}
static int32_t exits(void *) { return end_here(), 0; }
static void *drains(void *) {
    lazy_once_call(&draining, run_stop, &stopped);
    lazy_once_init(&draining);
    return nullptr;
}
static void process() {
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    CHECK_IS(lazy_once_call(&queued, tick, nullptr), LAZY_QUEUED);
    CHECK_IS(atexit(use_all), 0);
    CHECK_IS(at_quick_exit([] { CHECK_IS(COUNT(uses), 1); }), 0);
    CHECK_IS(at_quick_exit(use_all), 0);
    (void)&of_thread;
    if (ends == EXITS_IN_DRAIN) {
        CHECK_IS(lazy_once_call(&draining, exits, nullptr), LAZY_QUEUED);
        lazy_once_init(&draining);
    }
    if (ends == EXITS_BESIDE_DRAIN) {
        start(drains, nullptr);
        gate_wait(&stopped.reached);
    }
    end_here();
}

int main() {
    for (int how_it_ends = 0; how_it_ends < HOWS; how_it_ends++) {
        ends = (how)how_it_ends;
        in_child(process);
    }
    ends = HOWS; /* nothing more in this process */
    return finish();
}
