// not-under: valgrind: the program that it starts once more would be valgrind itself
// PyTorch's hang with the library in its place: a queued callback waits for a thread that waits for the same once. Guards against a hang that
// is not explained: the warning, the dump and the trace each name both threads, the once, the callback's line and the waiter's call.
#include "hung.h"

static lazy_once once = LAZY_ONCE_INIT;
static caller waiter;
static lazy_status inits(void *arg) { return LAZY_INIT((lazy_once *)arg); }
static int32_t joins(void *ctx) {
    tell("owner", thread_id());
    begin(&waiter, inits, &once);
    start(tells_that_it_hangs, &waiter);
    ended(&waiter);
    (void)ctx;
    return 0;
}
static int work(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "cuda";
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(LAZY_CALL(&once, joins, NULL), LAZY_QUEUED);
    return LAZY_INIT(&once) != LAZY_OK;
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1) return work();
    static const char site[] = "hang_callback_joins_a_waiter.c:";
    pid_t child = hang();
    int owner = told("owner"), waiter_id = told("waiter");
    until_said_of(waiter_id, "has waited 0.");
    until_said("for once \"cuda\", called at ");
    until_said_of(owner, "is draining: it runs a callback queued by ");
    until_said(site);
    ask_for_dump(child);
    until_said_of(waiter_id, "has waited ");
    until_said("once \"cuda\" at 0x");
    until_said(", called at ");
    until_said("(inits)\n");
    until_said(": draining for ");
    char on[64];
    snprintf(on, sizeof on, ", on thread %d, attempt 1 started at ", owner);
    until_said(on);
    until_said("running a callback queued by ");
    until_said("1 waiting, 0 queued");
    end_hang(child);
    CHECK_IS(strcmp(left_open(owner, 0)->cat, "request"), 0);
    CHECK_HAS(left_open(owner, 0)->site, site);
    CHECK_IS(strcmp(left_open(owner, 1)->cat, "attempt"), 0);
    CHECK_IS(strcmp(left_open(waiter_id, 0)->name, "wait for once \\\"cuda\\\""), 0);
    CHECK_HAS(left_open(waiter_id, 0)->site, site);
    return finish();
}
