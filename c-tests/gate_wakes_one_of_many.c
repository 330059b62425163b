// Guards against an initializing thread that pays for everybody: of 64 that sleep for its attempt it wakes one, with one system call, and those
// that wake wake the others, with as few as the relay has.
#include "callers.h"
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum { WAITERS = 64, RELAYS = 3 };
static atomic_int owner, by_owner, woken_by_owner, by_waiters, is_counting;
static atomic_long word; /* on which they sleep: locks have others */

/* What the library calls; the gates below do not. */
long syscall(long number, ...) {
    static long (*_Atomic real)(long, ...);
    long part[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) part[i] = va_arg(list, long);
    va_end(list);
    bool is_futex = number == SYS_futex, wakes = is_futex && (part[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
    if (is_futex && !wakes && !atomic_load(&is_counting)) atomic_store(&word, part[0]);
    if (wakes && atomic_load(&is_counting) && part[0] == atomic_load(&word)) {
        if (atomic_load(&owner) == thread_id()) {
            atomic_fetch_add(&by_owner, 1);
            atomic_fetch_add(&woken_by_owner, (int)part[2]);
        } else {
            atomic_fetch_add(&by_waiters, 1);
        }
    }
    long (*call)(long, ...) = atomic_load(&real);
    if (!call) {
        *(void **)&call = dlsym(RTLD_NEXT, "syscall");
        atomic_store(&real, call);
    }
    return call(number, part[0], part[1], part[2], part[3], part[4], part[5]);
}

static hold inside = HOLD_INIT;
static int32_t initialize(void *ctx) {
    held(ctx);
    atomic_store(&owner, atomic_load(&inside.thread));
    atomic_store(&is_counting, 1);
    return 0;
}

int main(void) {
    static lazy_once once;
    static caller first, others[WAITERS];
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "crowded";
    config.initialize = initialize;
    config.ctx = &inside;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    begin(&first, in_init, &once);
    gate_wait(&inside.inside);
    for (int i = 0; i < WAITERS; i++) begin(&others[i], in_init, &once);
    for (int i = 0; i < WAITERS; i++) until_waiting(&others[i]);
    gate_open(&inside.go);
    CHECK_IS(ended(&first), LAZY_OK);
    for (int i = 0; i < WAITERS; i++) CHECK_IS(ended(&others[i]), LAZY_OK);
    CHECK_IS(by_owner, 1);
    CHECK_IS(woken_by_owner, 1);
    CHECK(by_waiters >= 1 && by_waiters <= RELAYS + 1);
    return finish();
}
