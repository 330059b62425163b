// Guards against a callback that runs after retire has returned, when its code may be gone: while a slot is retired others use
// it for the first time, one of them on threads that end at once. Each hears LAZY_OK or LAZY_E_CLOSED, nothing else, and as
// many values were destroyed as made, before retire returned.
#include "slots.h"

enum { SLOTS = 6000 };
typedef struct usage { int made, destroyed, retired; } usage;
static lazy_slot slots[SLOTS];
static lazy_slot_config configs[SLOTS];
static usage usages[SLOTS];
static pthread_barrier_t together;

static int32_t make_watched(void *ctx, uint32_t index, void **value) {
    usage *u = (usage *)ctx;
    (void)index;
    CHECK(!COUNT(u->retired));
    sched_yield();
    ADD(u->made, 1);
    *value = u;
    CHECK(!COUNT(u->retired));
    return 0;
}
static void destroy_watched(void *ctx, uint32_t index, void *value) {
    usage *u = (usage *)value;
    (void)index;
    CHECK(ctx == value);
    CHECK(!COUNT(u->retired));
    ADD(u->destroyed, 1);
    CHECK(!COUNT(u->retired));
}
static void *gets_once(void *slot) {
    void *value = NULL;
    lazy_status status = lazy_slot_get((lazy_slot *)slot, 2, &value);
    if (status != LAZY_OK) CHECK_IS(status, LAZY_E_CLOSED);
    return NULL;
}
static void *gets(void *on_a_thread) {
    for (long i = 0; i < rounds(SLOTS); i++) {
        pthread_barrier_wait(&together);
        if (on_a_thread) join(start(gets_once, &slots[i]));
        else gets_once(&slots[i]);
    }
    return NULL;
}
static void *retires(void *ctx) {
    for (long i = 0; i < rounds(SLOTS); i++) {
        pthread_barrier_wait(&together);
        for (long spin = i % 32; spin > 0; spin--) (void)lazy_slot_has(&slots[i], 0);
        CHECK_IS(lazy_slot_retire(&slots[i]), LAZY_OK);
        SET(usages[i].retired, 1);
        CHECK_IS(COUNT(usages[i].destroyed), COUNT(usages[i].made));
    }
    return ctx;
}

int main(void) {
    pthread_t threads[4];
    pthread_barrier_init(&together, NULL, 4);
    for (int i = 0; i < SLOTS; i++) {
        configs[i] = (lazy_slot_config){ sizeof(lazy_slot_config), "brief", &usages[i], make_watched, destroy_watched, NULL,
                                         NULL, i % 2 ? LAZY_SLOT_PROCESS : LAZY_SLOT_THREAD, LAZY_FORK_KEEP };
        slots[i] = (lazy_slot)LAZY_SLOT_INIT(&configs[i]);
    }
    for (int i = 0; i < 3; i++) threads[i] = start(gets, i == 2 ? slots : NULL);
    threads[3] = start(retires, NULL);
    for (int i = 0; i < 4; i++) join(threads[i]);
    return finish();
}
