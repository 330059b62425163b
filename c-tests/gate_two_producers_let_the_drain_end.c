// Guards against a drain without end: two producers hand in as fast as requests run, with NO_WAIT, under CONTENDED_QUEUE, or
// one each, and no request returns before another one is queued. The drain must cut them off: NO_WAIT is refused, the other
// waits, and then the once is READY. What was taken ran once.
#include "producers.h"

int main(void) {
    for (int mode = 0; mode < 3; mode++) check_producers(mode, 0);
    return finish();
}
