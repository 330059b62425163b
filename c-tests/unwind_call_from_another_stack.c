// not-under: tsan asan valgrind: the tools follow one stack a thread
// Guards against a re-entry that is taken for a longjmp: the initializer and a queued request go on on other stacks of the same
// thread, above and below its own, and on a signal's; and one that began on another stack goes on on the thread's. Each call
// there is answered as on the initializing thread.
#include "callers.h"
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 256 * 1024 };
static lazy_once once;
static ucontext_t here, there;
static atomic_int ran;
static bool drains;

static void call_in(void) {
    CHECK(lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_run(&once, never, NULL), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_call(&once, count, &ran), drains ? LAZY_OK : LAZY_QUEUED);
    CHECK_IS(lazy_once_reset(&once), LAZY_IN_PROGRESS);
}
static char *memory(void) {
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED);
    return (char *)stack;
}
static void on(char *stack, void (*body)(void)) {
    CHECK_IS(getcontext(&there), 0);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK;
    there.uc_link = &here;
    makecontext(&there, body, 0);
    CHECK_IS(swapcontext(&here, &there), 0);
}
static void on_signal(int number) {
    (void)number;
    call_in();
}
static int32_t goes_to_other_stacks(void *ctx) {
    static char low[STACK]; /* beside the program, below every thread's stack */
    stack_t alternate = { .ss_sp = memory(), .ss_size = STACK };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
    (void)ctx;
    call_in();
    on(low, call_in);
    on(memory(), call_in);
    on((char *)malloc(STACK), call_in);
    CHECK_IS(sigaltstack(&alternate, NULL), 0);
    CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_IS(raise(SIGUSR1), 0);
    call_in();
    return 0;
}
/* The other way round: the attempt is owned from another stack, which is left in the middle of it. */
static int32_t goes_back(void *ctx) {
    (void)ctx;
    CHECK_IS(swapcontext(&there, &here), 0);
    call_in();
    return 0;
}
static void owns(void) { CHECK_IS(lazy_once_run(&once, goes_back, NULL), LAZY_OK); }

static void *in_thread(void *ctx) {
    for (int i = 0; i < 2; i++) {
        once = (lazy_once)LAZY_ONCE_INIT;
        drains = i == 1;
        if (drains) CHECK_IS(lazy_once_call(&once, goes_to_other_stacks, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_run(&once, drains ? nothing : goes_to_other_stacks, NULL), LAZY_OK);
    }
    drains = false;
    once = (lazy_once)LAZY_ONCE_INIT;
    on(memory(), owns);
    call_in(); /* on the thread's own stack, higher than where the attempt was owned, or lower */
    CHECK_IS(swapcontext(&here, &there), 0);
    CHECK(lazy_once_is_initialized(&once));
    return ctx;
}

int main(void) {
    join(start(in_thread, NULL));
    in_thread(NULL);
    return finish();
}
