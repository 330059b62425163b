// Guards against requests of one key that pile up or keep the old place: a later one replaces the earlier and takes the tail
// of its own phase, across phases too; the replaced one is dropped at once, never runs, and its ticket is unknown. Key 0,
// other keys and other onces replace nothing.
#include "requests.h"

static lazy_once once, other;
static job jobs[128];

static uint64_t add(lazy_once *to, char letter, uint64_t key, int32_t phase) {
    jobs[(int)letter].letter = letter;
    lazy_request request = request_for(&jobs[(int)letter]);
    request.key = key;
    request.phase = phase;
    return queue_request(to, request);
}
static void check_replaced(char letter, uint64_t ticket) {
    CHECK_JOB(jobs[(int)letter], 0, 1);
    CHECK_IS(lazy_once_cancel(&once, ticket), LAZY_E_NOT_FOUND);
    CHECK_JOB(jobs[(int)letter], 0, 1);
}

int main(void) {
    uint64_t x = add(&once, 'x', 1, 0);
    add(&once, 'c', 0, 0);
    uint64_t y = add(&once, 'y', 1, 0);
    check_replaced('x', x);
    add(&once, 'd', 0, 0);
    add(&once, 'e', 2, 0);
    add(&once, 'f', 1, 0); /* twice replaced: behind c, d and e */
    check_replaced('y', y);
    CHECK_IS(queued_in(&once), 4);

    uint64_t earlier = add(&once, 'u', 3, 0);
    add(&once, 'b', 3, -1); /* to an earlier phase */
    check_replaced('u', earlier);
    uint64_t later = add(&once, 'v', UINT64_MAX, -1);
    add(&once, 'h', UINT64_MAX, LAZY_PHASE_LAST); /* to a later one */
    check_replaced('v', later);
    add(&other, 'o', 1, 0);
    add(&other, 'p', 3, 0);
    add(&once, 'g', 0, 0);
    CHECK_IS(queued_in(&once), 7);
    CHECK_IS(queued_in(&other), 2);

    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_TRAIL("bcdefgh");
    CHECK_IS(lazy_once_init(&other), LAZY_OK);
    CHECK_TRAIL("op");
    for (const char *letter = "bcdefghop"; *letter; letter++) CHECK_JOB(jobs[(int)*letter], 1, 1);
    return finish();
}
