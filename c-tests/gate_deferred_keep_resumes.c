// Guards against a drain that starts over, or passes over what failed: under KEEP the failing request stops the drain, keeps
// its place, ticket and context, is tried again first in the next attempt, and can be cancelled or replaced in between.
#include "requests.h"

static const lazy_config config = { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_KEEP };
static lazy_once once = LAZY_ONCE_WITH(&config);
static job a = { .letter = 'a' }, f = { .letter = 'f', .failures = 2 }, b = { .letter = 'b' },
           g = { .letter = 'g', .failures = 9 }, c = { .letter = 'c' }, h = { .letter = 'h', .failures = 9 },
           i = { .letter = 'i' }, l = { .letter = 'l' };

int main(void) {
    lazy_request keyed = request_for(&h), last = request_for(&l);
    keyed.key = 3;
    last.phase = LAZY_PHASE_LAST;
    queue_request(&once, last);
    queue_job(&once, &a);
    uint64_t f_ticket = queue_job(&once, &f);
    queue_job(&once, &b);
    uint64_t g_ticket = queue_job(&once, &g);
    queue_job(&once, &c);
    queue_request(&once, keyed);
    for (int attempt = 1; attempt <= 2; attempt++) {
        CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
        CHECK_IS(lazy_last_error()->ticket, f_ticket);
        CHECK_IS(lazy_last_error()->attempt, attempt);
        CHECK_TRAIL(attempt == 1 ? "af" : "f");
        CHECK_JOB(f, attempt, 0);
    }
    CHECK_IS(queued_in(&once), 6);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_TRAIL("fbg");
    CHECK_IS(lazy_last_error()->ticket, g_ticket);
    CHECK_IS(lazy_once_cancel(&once, f_ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_cancel(&once, g_ticket), LAZY_OK);
    CHECK_JOB(g, 1, 1);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_TRAIL("ch");
    keyed = request_for(&i);
    keyed.key = 3;
    queue_request(&once, keyed);
    CHECK_JOB(h, 1, 1);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_TRAIL("il");
    CHECK_JOB(a, 1, 1);
    CHECK_JOB(f, 3, 1);
    return finish();
}
