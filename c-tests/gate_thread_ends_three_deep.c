// not-under: asan: it does not clear the marks on the stack of frames that the end of a thread unwinds, and takes the next ones there for errors
// flags: -fexceptions
// Guards against an end that is cleaned up in the innermost attempt only: a thread that initializes three onces inside
// each other ends, by pthread_exit or cancelled, at the bottom. The waiters of all three hear of a failed attempt,
// permits of all three are void, and another thread starts all of them.
#include "thread_ends.h"
#include "waiters.h"

enum { DEPTH = 3 };
static lazy_once onces[DEPTH];
static lazy_permit permits[DEPTH];
static ending end;
static atomic_int attempts[DEPTH];

static int32_t initialize(void *depth) {
    intptr_t mine = (intptr_t)depth;
    CHECK_IS(lazy_permit_capture(&onces[mine], &permits[mine]), LAZY_OK);
    if (mine + 1 < DEPTH) CHECK_IS(lazy_once_run(&onces[mine + 1], initialize, (void *)(mine + 1)), LAZY_OK);
    if (atomic_fetch_add(&attempts[mine], 1) > 0) return 0;
    if (mine + 1 == DEPTH) end_here(&end);
    return 0;
}
static void *ending_thread(void *ctx) {
    (void)ctx;
    lazy_once_run(&onces[0], initialize, (void *)0);
    CHECK(!"the thread came back");
    return NULL;
}

int main(void) {
    for (int how = 0; how < WAYS; how++) {
        waiter waiters[DEPTH];
        end = ENDING((way)how);
        for (int i = 0; i < DEPTH; i++) {
            onces[i] = (lazy_once)LAZY_ONCE_INIT;
            atomic_store(&attempts[i], 0);
        }
        pthread_t thread = start(ending_thread, NULL);
        gate_wait(&end.inside);
        for (int i = 0; i < DEPTH; i++) {
            waiter_start(&waiters[i], &onces[i], wait_in_init);
            waiter_asleep(&waiters[i]);
        }
        end_thread(&end, thread);
        for (int i = 0; i < DEPTH; i++) {
            waiter_saw_the_end(&waiters[i], LAZY_E_INIT);
            CHECK_IS(lazy_permit_enter(&permits[i]), LAZY_E_NOT_FOUND);
            CHECK(!lazy_once_is_initializing(&onces[i]));
        }
        CHECK_IS(lazy_once_run(&onces[0], initialize, (void *)0), LAZY_OK);
        for (int i = 0; i < DEPTH; i++) CHECK(lazy_once_is_initialized(&onces[i]));
    }
    return finish();
}
