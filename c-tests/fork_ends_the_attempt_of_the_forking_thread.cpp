// Guards against an attempt that lives twice: when the initializing thread forks, under RESET and POISON its attempt is void in
// the child. However the callback that forked ends there, by 0, by a failure or by an exception, the init that is still on the
// stack says LAZY_E_FORKED or lets the exception through, nothing more of the queue runs by it, and what the child did to the
// once meanwhile stays. In the parent the attempt goes on.
#include "forked_child.h"
#include "requests.h"
#include <initializer_list>

enum way { SUCCEEDS, FAILS, THROWS };
enum place { INITIALIZER, REQUEST };
static struct { uint32_t policy; way ends; place forks; bool revives; } plan;
static lazy_once once;
static pid_t child;
static job before = { 'b', 0, 0, 0, 0 }, after = { 'a', 0, 0, 0, 0 };
static bool is_child() { return child == 0; }

/* Inside the void attempt: nothing here is this thread's, and the once can be used anew. */
static void use_in_child() {
    CHECK(!lazy_once_is_initializing(&once));
    CHECK(!lazy_once_is_initialized(&once));
    if (!plan.revives) return;
    if (plan.policy == LAZY_FORK_POISON) CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(lazy_once_cancel_owner(&once, &once), plan.forks == INITIALIZER); /* the request that forks; from inside it is not withdrawn */
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
}
static int32_t fork_once(place here) {
    if (child >= 0) return 0;
    if (here != plan.forks) return 0;
    fflush(NULL);
    child = fork();
    if (!is_child()) return 0;
    alarm(20);
    use_in_child();
    if (plan.ends == THROWS) throw 7;
    return plan.ends == FAILS ? lazy_fail(5, "in the child") : 0;
}
static int32_t initialize(void *) { return fork_once(INITIALIZER); }
static int32_t forks(void *) { return fork_once(REQUEST); }

static int init() { /* the status, or what was thrown */
    try {
        return lazy_once_init(&once);
    } catch (int thrown) {
        return thrown;
    }
}
static void check_in_child(int result) {
    CHECK_IS(result, plan.ends == THROWS ? 7 : LAZY_E_FORKED);
    if (plan.ends != THROWS) CHECK_IS(lazy_last_error()->status, LAZY_E_FORKED);
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(info.phase, plan.revives ? LAZY_READY : plan.policy == LAZY_FORK_POISON ? LAZY_FORKED : LAZY_FRESH);
    CHECK_IS(COUNT(after.ran), plan.revives);
    CHECK_IS(COUNT(before.ran), plan.revives || plan.forks == REQUEST);
    if (plan.policy == LAZY_FORK_POISON && !plan.revives) CHECK_IS(lazy_once_init(&once), LAZY_E_FORKED);
    if (plan.policy == LAZY_FORK_POISON && !plan.revives) CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(COUNT(after.ran), 1);
    CHECK_IS(COUNT(after.dropped), 1);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    _exit(0);
}
static void run() {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    config.initialize = initialize;
    config.on_fork = plan.policy;
    request.fn = forks;
    request.owner = &once;
    before = { 'b', 0, 0, 0, 0 };
    after = { 'a', 0, 0, 0, 0 };
    child = -1;
    once = lazy_once{ 0, LAZY_ONCE_ABI, nullptr, nullptr, nullptr };
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    queue_job(&once, &before);
    queue_request(&once, request);
    queue_job(&once, &after);
    int result = init();
    if (is_child()) check_in_child(result);
    check_child(child);
    CHECK_IS(result, LAZY_OK);
    CHECK_IS(COUNT(after.ran), 1);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main() {
    for (uint32_t policy : { LAZY_FORK_RESET, LAZY_FORK_POISON })
        for (place forks : { INITIALIZER, REQUEST })
            for (way ends : { SUCCEEDS, FAILS, THROWS })
                for (bool revives : { false, true }) {
                    plan = { policy, ends, forks, revives };
                    run();
                }
    return finish();
}
