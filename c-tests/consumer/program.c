/* What every consumer builds: the header and the library are there, and of the same version. */
#include <lazyonce.h>
#include <stdio.h>

static int32_t start(void *ctx) { return ++*(int *)ctx, 0; }

int main(void) {
    static lazy_once once = LAZY_ONCE_INIT;
    int runs = 0;
    if (lazy_version() != LAZY_VERSION_NUMBER) return 1;
    if (lazy_once_run(&once, start, &runs) != LAZY_OK || LAZY_CALL(&once, start, &runs) != LAZY_OK || runs != 2) return 2;
    return puts("done") < 0;
}
