// not-under: asan tsan valgrind: the tool has an allocator of its own, and its own memory counts
// Guards against queue entries that are heavy, grow by copying, or stay: a million plain requests fit in 48 MB at every
// moment, each runs once and in order, and nothing of it is left after READY, whichever allocator it came from.
#include "memory_use.h"

enum { million = 1000000 };
static intptr_t next;
static int32_t in_turn(void *number) {
    CHECK((intptr_t)number == next);
    next++;
    return 0;
}
static void fill_and_drain(lazy_once *once, intptr_t count) {
    next = 0;
    for (intptr_t i = 0; i < count; i++) CHECK_IS(lazy_once_call(once, in_turn, (void *)i), LAZY_QUEUED);
    CHECK_IS(next, 0);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(next, count);
}

int main(void) {
    lazy_once warm_up = LAZY_ONCE_INIT, once = LAZY_ONCE_INIT;
    fill_and_drain(&warm_up, 100000);
    malloc_trim(0);
    const size_t limit = 48000000, slack = 1000000, little = 16384; /* malloc counts as given out what it keeps at hand */
    size_t allocated_before = allocated(), resident_before = memory_of("VmRSS:");
    next = 0;
    for (intptr_t i = 0; i < million; i++) CHECK_IS(lazy_once_call(&once, in_turn, (void *)i), LAZY_QUEUED);
    CHECK(allocated() - allocated_before < limit);
    CHECK(memory_of("VmHWM:") - resident_before < limit); /* the most so far */
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(next, million);
    CHECK(memory_of("VmHWM:") - resident_before < limit);
    CHECK(allocated() < allocated_before + little);
    malloc_trim(0);
    CHECK(memory_of("VmRSS:") < resident_before + slack);
    CHECK(once.impl == NULL);
    for (int i = 0; i < 2000; i++) {
        lazy_once another = LAZY_ONCE_INIT; /* what stays of one would show after so many */
        fill_and_drain(&another, 1 + i % 100);
    }
    CHECK(allocated() < allocated_before + little);
    return finish();
}
