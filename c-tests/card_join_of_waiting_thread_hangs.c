// expect: hang
// not-under: tsan valgrind asan: the tool's own threads and locks would be taken for the program's
// Documents what is not promised: a queued callback that joins a thread which waits for the same once is a deadlock that
// a plain join hides from the library. Without the hang, lazy_init returned on that thread before the drain had ended.
#include "check.h"

static lazy_once once = LAZY_ONCE_INIT;

static void *initializing(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return NULL;
}
static int32_t joins(void *ctx) {
    (void)ctx;
    join(start(initializing, NULL));
    return 0;
}

int main(void) {
    CHECK_IS(lazy_once_call(&once, joins, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    return finish();
}
