// Guards against a circle that goes unseen because an attempt has several threads. Its own thread and its workers wait
// for b, whose thread waits for it: whoever comes last, the other once's thread, the attempt's own or a worker, or all at
// once, exactly one is refused, whatever call it waits in, with both onces and all the threads in the message.
#include "lent_circle.h"

enum { OK = LAZY_OK, DEADLOCK = LAZY_E_DEADLOCK, CLOSED = LAZY_E_CLOSED, ANY = ANY_STATUS };
static const struct part cases[][PARTS] = {
    /* in the order A, B, W, V: whether it plays, after whom, its result, whether it closes b when it is refused */
    { { 1, 0, OK, 0, 0 }, { 1, 1 << A | 1 << W, DEADLOCK, 0, 0 }, { 1, 0, OK, 0, 0 }, { 0, 0, 0, 0, 0 } },
    { { 1, 0, OK, 0, 0 }, { 1, 1 << A | 1 << W | 1 << V, DEADLOCK, 0, 0 }, { 1, 0, OK, 0, 0 }, { 1, 0, OK, 0, 0 } },
    { { 1, 1 << B | 1 << W, DEADLOCK, 0, 0 }, { 1, 0, OK, 0, 0 }, { 1, 0, OK, 0, 0 }, { 0, 0, 0, 0, 0 } },
    { { 1, 0, CLOSED, 0, 0 }, { 1, 0, OK, 0, 0 }, { 1, 1 << A | 1 << B, DEADLOCK, 1, 0 }, { 0, 0, 0, 0, 0 } },
    { { 1, 0, CLOSED, 0, 0 }, { 1, 0, OK, 0, 0 }, { 1, 0, CLOSED, 0, 0 }, { 1, 1 << A | 1 << B | 1 << W, DEADLOCK, 1, 0 } },
};
static const struct part racing[PARTS] = {
    { 1, 0, ANY, 0, 0 }, { 1, 0, ANY, 0, 0 }, { 1, 0, ANY, 1, 0 }, { 1, 0, ANY, 1, 0 },
};

int main(void) {
    static lazy_status (*const kinds[])(lazy_once *) = { wait_in_init, wait_in_run, wait_in_call, wait_in_submit, wait_in_reset };
    for (int kind = 0; kind < 5; kind++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            needs = kinds[kind];
            if (needs != wait_in_reset || i < 3) CHECK_IS(play_all(cases[i]), 1); /* a reset works on a closed once */
        }
    needs = wait_in_init;
    pthread_barrier_t start_line;
    pthread_barrier_init(&start_line, NULL, PARTS);
    together = &start_line;
    for (long i = rounds(1000); i > 0; i--) CHECK_IS(play_all(racing), 1);
    pthread_barrier_destroy(&start_line);
    return finish();
}
