// Guards against an old ticket that withdraws somebody else's request: no ticket is given twice, also after READY when the
// once gave its memory back, after a reset, and after failed drains; so an old one is always unknown.
#include "requests.h"

static lazy_once once;

int main(void) {
    uint64_t before[3] = { 0 };
    const long last = rounds(1000);
    for (long round = 0; round < last; round++) {
        job ran = { 0 }, cancelled = { 0 }, fails = { .failures = 1 };
        uint64_t tickets[3] = { queue_job(&once, &ran), queue_job(&once, &cancelled), queue_job(&once, &fails) };
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < i; j++) CHECK(tickets[i] != tickets[j]);
            CHECK_IS(lazy_once_cancel(&once, before[i]), LAZY_E_NOT_FOUND);
        }
        CHECK_IS(queued_in(&once), 3);
        CHECK_IS(lazy_once_cancel(&once, tickets[1]), LAZY_OK);
        CHECK_IS(lazy_once_init(&once), LAZY_E_DEFERRED);
        CHECK_IS(lazy_once_cancel(&once, tickets[0]), LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_last_error()->status, LAZY_E_NOT_FOUND);
        CHECK_IS(queued_in(&once), 1);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_JOB(ran, 1, 1);
        CHECK_JOB(cancelled, 0, 1);
        CHECK_JOB(fails, 2, 1);
        CHECK_IS(lazy_once_cancel(&once, tickets[2]), LAZY_E_NOT_FOUND);
        memcpy(before, tickets, sizeof before);
        CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    }
    return finish();
}
