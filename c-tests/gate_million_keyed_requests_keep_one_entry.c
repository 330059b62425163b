// not-under: asan tsan valgrind: the tool has an allocator of its own, and its own memory counts
// Guards against a seed that is set in a loop and fills the memory: a million requests of one key, in two phases, keep one
// entry; every replaced one was dropped, the last one runs, and the places that were given up do not stay.
#include "memory_use.h"

enum { million = 1000000 };
static intptr_t ran, last, dropped;
static int32_t seed(void *number) {
    ran++;
    last = (intptr_t)number;
    return 0;
}
static void drop(void *number) {
    CHECK((intptr_t)number == dropped); /* the earlier one, each time */
    dropped++;
}
static void set_seed(lazy_once *once, intptr_t number) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = seed;
    request.ctx = (void *)number;
    request.drop = drop;
    request.key = 42;
    request.phase = number % 2 ? LAZY_PHASE_LAST : LAZY_PHASE_NORMAL;
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_QUEUED);
}

int main(void) {
    static lazy_once once;
    const size_t limit = 1000000;
    set_seed(&once, 0);
    size_t allocated_before = allocated(), resident_before = memory_of("VmRSS:");
    for (intptr_t i = 1; i < million; i++) {
        set_seed(&once, i);
        CHECK(dropped == i);
    }
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(info.queued, 1);
    CHECK(allocated() < allocated_before + limit);
    CHECK(memory_of("VmHWM:") < resident_before + limit);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK_IS(last, million - 1);
    CHECK_IS(dropped, million);
    CHECK(allocated() < allocated_before + 16384); /* malloc counts as given out what it keeps at hand */
    return finish();
}
