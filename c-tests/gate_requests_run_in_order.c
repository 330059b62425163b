// Guards against plain and full requests that are kept apart, and against phases that are compared wrongly: phases run in
// ascending order, negative and extreme ones too, and within a phase the first in is the first out, whatever its kind.
#include "requests.h"
#include <limits.h>

enum { many = 3000 };
static lazy_once once, long_queue;
static int next;

static int32_t in_turn(void *number) {
    CHECK_IS(next, (intptr_t)number);
    next++;
    return 0;
}
static void add(char letter, int32_t phase) {
    static job jobs[16];
    static int used;
    job *j = &jobs[used++];
    j->letter = letter;
    lazy_request request = request_for(j);
    request.phase = phase;
    queue_request(&once, request);
}
static void add_plain(char letter) {
    static job jobs[16];
    static int used;
    job *j = &jobs[used++];
    j->letter = letter;
    CHECK_IS(lazy_once_call(&once, run_job, j), LAZY_QUEUED);
}

int main(void) {
    add_plain('d');
    add('e', LAZY_PHASE_NORMAL);
    add('k', INT32_MAX);
    add('b', -1);
    add('h', LAZY_PHASE_LAST);
    add_plain('f');
    add('a', INT32_MIN);
    add('c', -1);
    add('i', LAZY_PHASE_LAST);
    add('g', 0);
    add('j', LAZY_PHASE_LAST + 1);
    CHECK_IS(queued_in(&once), 11);
    CHECK_TRAIL("");
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_TRAIL("abcdefghijk");

    /* Runs of either kind, of growing length, so that a queue of blocks is crossed at many places. */
    for (intptr_t i = 0, run = 1, left = 1; i < many; i++) {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = in_turn;
        request.ctx = (void *)i;
        if (run % 2) CHECK_IS(lazy_once_call(&long_queue, in_turn, (void *)i), LAZY_QUEUED);
        else queue_request(&long_queue, request);
        if (--left == 0) left = ++run;
    }
    CHECK_IS(lazy_once_init(&long_queue), LAZY_OK);
    CHECK_IS(next, many);
    return finish();
}
