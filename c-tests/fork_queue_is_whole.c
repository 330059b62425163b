// not-under: valgrind: what threads that are gone in the child held there is not freed, as documented
// Guards against a queue that a fork tears: plain calls, phases, keys and owners keep their order and their tickets in the
// child, with the request at the head that another thread was running, whether plain, of its own, or released at that
// moment; under every policy that keeps the queue, and under POISON after a reset. Each drop runs once in each process.
#include "callers.h"
#include "forked_child.h"
#include "requests.h"

static lazy_once once;
static stop stopped;
static atomic_int is_child;
static uint64_t cancelled;
static const char *left;
static int drops, drops_left;

static int32_t letter(void *text) {
    note(*(const char *)text);
    if (*(const char *)text == 'S' && !atomic_load(&is_child)) run_stop(&stopped);
    return 0;
}
static void drop(void *text) {
    ADD(drops, 1);
    if (*(const char *)text == 'D' && !atomic_load(&is_child)) run_stop(&stopped);
}
static uint64_t queue(const char *text, int32_t phase, uint64_t key) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = letter;
    request.ctx = (void *)(uintptr_t)text;
    request.drop = drop;
    request.owner = text;
    request.phase = phase;
    request.key = key;
    return queue_request(&once, request);
}
static void plain(const char *text) { CHECK_IS(lazy_once_call(&once, letter, (void *)(uintptr_t)text), LAZY_QUEUED); }

static void fill(const char *first) {
    queue("z", LAZY_PHASE_LAST, 0);
    plain("b");
    if (*first == 'P') plain("S"); /* in the middle of a block of plain ones */
    else queue(first, -1, 0);
    plain("c");
    queue("x", 0, 7);
    cancelled = queue("y", 0, 0);
    queue("d", 0, 7); /* in place of x */
    plain("e");
}
static void child(void) {
    atomic_store(&is_child, 1);
    memset(trail, 0, sizeof trail);
    trail_length = 0;
    if (info_of(&once).phase == LAZY_FORKED) CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(queued_in(&once), strlen(left) + 1);
    CHECK_IS(lazy_once_cancel(&once, cancelled), LAZY_OK);
    CHECK_IS(lazy_once_cancel(&once, cancelled), LAZY_E_NOT_FOUND);
    plain("f");
    CHECK_IS(queued_in(&once), strlen(left) + 1);
    int before = COUNT(drops);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%.*sfz", (int)strlen(left) - 1, left);
    CHECK_TRAIL(wanted);
    CHECK_IS(COUNT(drops), before + drops_left);
}
static void fork_at(const char *first, uint32_t policy, const char *expected, int expected_drops) {
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_info before;
    config.on_fork = policy;
    once = (lazy_once)LAZY_ONCE_INIT;
    stopped = (stop)STOP_INIT;
    left = expected;
    drops_left = expected_drops;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    fill(first);
    pthread_t thread = start(initializes, &once);
    gate_wait(&stopped.reached);
    before = info_of(&once);
    in_child(child);
    CHECK_IS(info_of(&once).queued, before.queued);
    gate_open(&stopped.go_on);
    join(thread);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    memset(trail, 0, sizeof trail);
    trail_length = 0;
}

int main(void) {
    for (uint32_t policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) {
        fork_at("S", policy, "Sbcdez", 3); /* the first of all, alone */
        fork_at("P", policy, "Scdez", 2);  /* between plain ones: b has run */
        fork_at("D", policy, "bcdez", 2);  /* it has run and is being released by a thread that is gone */
    }
    return finish();
}
