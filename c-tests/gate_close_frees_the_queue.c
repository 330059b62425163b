// not-under: asan tsan valgrind: the tool has an allocator of its own, whose books mallinfo2 does not show
// Guards against a close that forgets part of a long queue: of a million requests, plain, keyed, owned and in several
// phases, each is dropped exactly once, none runs, and no memory of theirs stays allocated.
#include "callers.h"
#include <malloc.h>

enum { REQUESTS = 1000000 };
static unsigned char dropped[REQUESTS];
static lazy_once once;

static void drop(void *mark) {
    CHECK_IS(++*(unsigned char *)mark, 1);
}
static size_t allocated(void) {
    struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    size_t before = allocated();
    for (int i = 0; i < REQUESTS; i++) {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = never;
        request.ctx = &dropped[i];
        request.drop = drop;
        request.key = i % 4 == 0 ? (uint64_t)i + 1 : 0;
        request.owner = i % 3 == 0 ? &once : NULL;
        request.phase = i % 5;
        CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
    }
    for (int i = 0; i < REQUESTS; i++) CHECK_IS(lazy_once_call(&once, never, NULL), LAZY_QUEUED);
    CHECK_IS(info_of(&once).queued, 2 * REQUESTS);
    CHECK(allocated() > before + 16 * REQUESTS); /* the books show the queue */
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    for (int i = 0; i < REQUESTS; i++) CHECK_IS(dropped[i], 1);
    CHECK(allocated() < before + 65536); /* the books count what a thread keeps for itself as given out */
    return finish();
}
