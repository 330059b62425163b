// Guards against a queue that loses its order when it grows, or when callbacks run nested ones: ten thousand requests run
// in the order in which they came, and what a request calls runs inside it.
#include "check.h"

enum { REQUESTS = 10000 };
static lazy_once once = LAZY_ONCE_INIT;
static long next, nested;

static int32_t inner(void *number) {
    CHECK_IS((intptr_t)number, next);
    ++nested;
    return 0;
}
static int32_t in_order(void *number) {
    CHECK_IS((intptr_t)number, next);
    if (next % 3 == 0) CHECK_IS(lazy_once_call(&once, inner, number), LAZY_OK);
    ++next;
    return 0;
}

int main(void) {
    for (intptr_t i = 0; i < REQUESTS; ++i) CHECK_IS(lazy_once_call(&once, in_order, (void *)i), LAZY_QUEUED);
    CHECK_IS(next, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(next, REQUESTS);
    CHECK_IS(nested, (REQUESTS + 2) / 3);
    return finish();
}
