/* The two ways in which a thread ends inside a callback: by pthread_exit, and cancelled by somebody else. For C11. */
#ifndef THREAD_ENDS_H
#define THREAD_ENDS_H
#include "check.h"

typedef enum way { LEAVES, IS_CANCELLED } way;
enum { WAYS = 2 };

/* One end of one thread: `inside` opens when the thread has come to the place where it is to end. */
typedef struct ending { way how; gate inside, go; } ending;
#define ENDING(how) ((ending){ (how), GATE_INIT, GATE_INIT })

static char left_by_exit; /* its address is the result of a thread that left */

_Noreturn static inline void end_here(ending *e) {
    gate_open(&e->inside);
    if (e->how == LEAVES) {
        gate_wait(&e->go);
        pthread_exit(&left_by_exit);
    }
    for (;;) pause();
}
/* Ends the thread that is inside, and returns when it is gone. */
static inline void end_thread(ending *e, pthread_t thread) {
    gate_wait(&e->inside);
    if (e->how == LEAVES)
        gate_open(&e->go);
    else
        CHECK_IS(pthread_cancel(thread), 0);
    CHECK(join(thread) == (e->how == LEAVES ? (void *)&left_by_exit : PTHREAD_CANCELED));
}
#endif
