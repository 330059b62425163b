// Guards against a cancelled request that runs, a stranger that is withdrawn, and a wrong count: cancel by ticket and by owner
// withdraw what is queued, wherever it stands, drop it before they return, keep the order of the rest, and know nothing
// afterwards; errno is left alone.
#include "requests.h"

static lazy_once once;
static job jobs[26];
static char owner_a, owner_b;

static uint64_t add(char letter, const void *owner, int32_t phase) {
    job *j = &jobs[letter - 'a'];
    j->letter = letter;
    lazy_request request = request_for(j);
    request.owner = owner;
    request.phase = phase;
    return queue_request(&once, request);
}

int main(void) {
    uint64_t tickets[26];
    for (int i = 0; i < 26; i++) tickets[i] = add((char)('a' + i), i % 3 ? i % 3 == 1 ? &owner_a : &owner_b : NULL, i / 9);
    CHECK_IS(lazy_once_call(&once, run_job, &jobs[0]), LAZY_QUEUED); /* plain, behind 'i' */
    const char *cancelled = "aimqz"; /* the ends of the queue and of its phases, and the middle */
    errno = 42;
    for (const char *letter = cancelled; *letter; letter++) {
        CHECK_IS(lazy_once_cancel(&once, tickets[*letter - 'a']), LAZY_OK);
        CHECK_JOB(jobs[*letter - 'a'], 0, 1);
        CHECK_IS(lazy_once_cancel(&once, tickets[*letter - 'a']), LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_last_error()->status, LAZY_E_NOT_FOUND);
        CHECK_JOB(jobs[*letter - 'a'], 0, 1);
    }
    CHECK_IS(lazy_once_cancel_owner(&once, &owner_b), 7); /* c f l o r u x; i is gone */
    CHECK_IS(lazy_once_cancel_owner(&once, &owner_b), 0);
    CHECK_IS(lazy_once_cancel_owner(&once, &once), 0);
    CHECK_IS(errno, 42);
    for (const char *letter = "cflorux"; *letter; letter++) CHECK_JOB(jobs[*letter - 'a'], 0, 1);
    CHECK_IS(queued_in(&once), 26 + 1 - 5 - 7);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_TRAIL("bdeghajknpstvwy");
    CHECK_JOB(jobs['b' - 'a'], 1, 1);
    for (int i = 0; i < 26; i++) CHECK_IS(lazy_once_cancel(&once, tickets[i]), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_cancel_owner(&once, &owner_a), 0);
    return finish();
}
