// preload: calling_malloc.c
// not-under: asan tsan valgrind: the tool has an allocator of its own, which calls nothing back
// Guards against a cost for those who do not ask: while ten thousand values exist elsewhere a thread that only asks whether it
// has one, or that uses nothing at all, allocates and frees nothing up to its end, nor does a look-up that finds a value.
#include "slots.h"
#include <dlfcn.h>

enum { SLOTS = 100, INDICES = 100 };
static void (*call_from_malloc)(void (*hook)(void));
static lazy_slot slots[SLOTS];
static const lazy_slot_config config = ITEMS("elsewhere", LAZY_SLOT_THREAD);
static int allocations;
static pthread_key_t last; /* its destructor runs before the thread's own end is accounted for */

static void counts(void) {
    ADD(allocations, 1);
}
static void *asks(void *present) {
    call_from_malloc(counts);
    for (uint32_t i = 0; i < SLOTS; i++) CHECK_IS(lazy_slot_has(&slots[i], i), present != NULL);
    for (uint32_t i = 0; present && i < SLOTS; i++) {
        void *value = NULL;
        CHECK_IS(lazy_slot_get(&slots[i], i, &value), LAZY_OK);
        CHECK(value != NULL);
    }
    if (!present) CHECK_IS(pthread_setspecific(last, &last), 0);
    else call_from_malloc(NULL);
    return NULL;
}
static void stops_counting(void *value) {
    static __thread int turns;
    if (++turns < 3) pthread_setspecific(last, value); /* the library's own end of the thread is counted */
    else call_from_malloc(NULL);
}

int main(void) {
    *(void **)&call_from_malloc = dlsym(RTLD_DEFAULT, "call_from_malloc");
    CHECK(call_from_malloc != NULL);
    CHECK_IS(pthread_key_create(&last, stops_counting), 0);
    for (int i = 0; i < SLOTS; i++) slots[i] = (lazy_slot)LAZY_SLOT_INIT(&config);
    join(start(asks, NULL)); /* before there is anything, too */
    for (int i = 0; i < SLOTS; i++)
        for (uint32_t index = 0; index < INDICES; index++) get(&slots[i], index);
    join(start(asks, NULL));
    CHECK_IS(COUNT(allocations), 0);
    asks(slots);
    CHECK_IS(COUNT(allocations), 0);
    call_from_malloc(counts);
    lazy_fail(3, "a text that has to be kept"); /* it does count */
    call_from_malloc(NULL);
    CHECK(COUNT(allocations) > 0);
    return finish();
}
