/* Holds one thread between the first look of lazy_call, which found the once not ready, and the lock that the append
   takes. Only the library built with test hooks has lazy_test_hook. */
#ifndef SECOND_LOOK_H
#define SECOND_LOOK_H
#include "check.h"
#include <stdatomic.h>
void lazy_test_hook(void (*hook)(void *arg), void *arg);

static gate looked = GATE_INIT, go_on = GATE_INIT;
static _Thread_local bool is_held;
static atomic_int held_thread, hook_calls;

static void hold_here(void *arg) {
    (void)arg;
    if (!is_held) return;
    is_held = false;
    atomic_fetch_add(&hook_calls, 1);
    gate_open(&looked);
    gate_wait(&go_on);
}
/* The thread that calls this stops at its next lazy_call until go_on opens. */
static inline void hold_this_thread(void) {
    is_held = true;
    atomic_store(&held_thread, thread_id());
    lazy_test_hook(hold_here, NULL);
}
#endif
