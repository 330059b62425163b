// Guards against a failed request that comes back, or fails silently, under DROP: each failure fails its attempt once, with
// the request's error, and the next attempt goes on behind it; READY comes only from a drain in which none failed.
#include "requests.h"

static const lazy_config config = { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_DROP };
static lazy_once once = LAZY_ONCE_WITH(&config);
static job a = { .letter = 'a' }, f = { .letter = 'f', .failures = 9 }, b = { .letter = 'b' },
           g = { .letter = 'g', .failures = 9 };

int main(void) {
    queue_job(&once, &a);
    uint64_t f_ticket = queue_job(&once, &f);
    queue_job(&once, &b);
    uint64_t g_ticket = queue_job(&once, &g); /* the last one: nothing is left when its attempt ends */
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_TRAIL("af");
    CHECK_IS(lazy_last_error()->ticket, f_ticket);
    CHECK_HAS(lazy_last_error()->message, "job f");
    CHECK_HAS(lazy_last_error()->message, "the job had no luck");
    CHECK_JOB(f, 1, 1);
    CHECK_IS(lazy_once_cancel(&once, f_ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(queued_in(&once), 2);
    CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
    CHECK_TRAIL("bg");
    CHECK_IS(lazy_last_error()->ticket, g_ticket);
    CHECK_JOB(g, 1, 1);
    CHECK(!lazy_once_is_initialized(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_TRAIL("");
    CHECK(lazy_once_is_initialized(&once));
    CHECK_JOB(f, 1, 1);
    return finish();
}
