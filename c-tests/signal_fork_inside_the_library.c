// not-under: tsan valgrind asan: a signal handler that forks at any instruction is more than the tool's own allocator and runtime are made for
// Guards against a child that hangs or lies because a signal handler forked it while its thread was inside the library, where no lock
// can be waited for: at random instructions, beside threads that own an attempt or hold a lock. What was interrupted goes on in the
// child, and after it everything is as after any other fork: attempts of other threads are gone, no lock is held, POISON is noticed.
#include "interrupted.h"
#include <execinfo.h>
#include <sys/wait.h>

static lazy_once running = LAZY_ONCE_INIT, busy[3], poisoned = LAZY_ONCE_INIT, untouched = LAZY_ONCE_INIT;
static hold initializer = HOLD_INIT;
static lazy_slot slot = LAZY_SLOT_INIT(NULL);
static volatile sig_atomic_t is_child, children, too_early;
static __thread volatile sig_atomic_t allocating __attribute__((tls_model("initial-exec")));

/* Inside glibc's allocator glibc's own fork hangs. Nor must a signal that forks meet its loader, so every place here is known by its line. */
void *__libc_malloc(size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_calloc(size_t count, size_t size);
void __libc_free(void *block);
#define ALLOCATING(type, call) do { allocating++; type result_ = (call); allocating--; return result_; } while (0)
void *malloc(size_t size) { ALLOCATING(void *, __libc_malloc(size)); }
void *realloc(void *old, size_t size) { ALLOCATING(void *, __libc_realloc(old, size)); }
void *calloc(size_t count, size_t size) { ALLOCATING(void *, __libc_calloc(count, size)); }
void free(void *block) {
    allocating++;
    __libc_free(block);
    allocating--;
}

/* A child that hangs says where. */
static void hangs(int number) {
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
    lazy_dump(2);
    _exit(number);
}
static void handler(int number) {
    int before = errno;
    (void)number;
    if (allocating) {
        too_early = 1;
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        signal(SIGALRM, hangs);
        alarm(20);
    } else if (child > 0) {
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
        if (status != 0) {
            dprintf(2, "a child ended with status 0x%x\n", (unsigned)status);
            _exit(5);
        }
        children++;
    }
    handled++;
    errno = before;
}
static int32_t holds_in_the_parent(void *ctx) {
    return is_child ? 0 : held(ctx);
}
static void *initializes(void *ctx) {
    LAZY_INIT(&running);
    return ctx;
}
static void use(lazy_once *once) {
    static int owner;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = nothing;
    request.owner = &owner;
    request.key = 7;
    lazy_once_submit(once, &request, &receipt);
    lazy_once_call(once, nothing, NULL);
    lazy_once_cancel(once, receipt.ticket);
    lazy_once_init(once);
    lazy_once_reset(once);
}
static void *works(void *ctx) {
    for (;;) use((lazy_once *)ctx);
    return ctx;
}
/* In the child, with its one thread: all of it within the alarm. */
static void check_child(void) {
    void *value = NULL;
    CHECK(!lazy_once_is_initialized(&poisoned));
    CHECK_IS(lazy_once_init(&poisoned), LAZY_E_FORKED);
    CHECK_IS(lazy_once_call(&poisoned, never, NULL), LAZY_E_FORKED);
    uint32_t phase = info_of(&running).phase;
    CHECK(phase == LAZY_FRESH || phase == LAZY_READY); /* what was interrupted may have initialized it */
    CHECK_IS(lazy_once_run(&running, nothing, NULL), LAZY_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_IS(lazy_once_init(&busy[i]), LAZY_OK);
        CHECK_IS(lazy_once_call(&busy[i], nothing, NULL), LAZY_OK);
        use(&busy[i]);
        CHECK_IS(lazy_once_close(&busy[i]), LAZY_OK);
    }
    CHECK_IS(lazy_once_init(&untouched), LAZY_OK);
    CHECK(lazy_once_named("in the child") != NULL);
    CHECK_IS(lazy_slot_set(&slot, 1, &slot), LAZY_OK);
    CHECK_IS(lazy_slot_get(&slot, 1, &value), LAZY_OK);
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(lazy_once_init(&running) != LAZY_OK);
    CHECK_IS(waitpid(grandchild, &(int){ 0 }, 0), grandchild);
    _exit(0);
}
static void work(int round) {
    lazy_once brief = LAZY_ONCE_INIT;
    switch (round % 6) {
        case 0: lazy_once_init_timeout(&running, 0); break;
        case 1: use(&busy[2]); break;
        case 2: info_of(&running); break;
        case 3: lazy_once_named("interrupted"); break;
        case 4: lazy_once_call(&brief, nothing, NULL); lazy_once_close(&brief); break;
        case 5: lazy_slot_set(&slot, 0, &slot); break;
    }
}

int main(void) {
    void *frame;
    backtrace(&frame, 1); /* what it loads is loaded */
    lazy_config config = LAZY_CONFIG_INIT;
    sigset_t all, before;
    config.initialize = holds_in_the_parent;
    config.ctx = &initializer;
    CHECK_IS(lazy_once_configure(&running, &config), LAZY_OK);
    config.initialize = NULL;
    config.on_fork = LAZY_FORK_POISON;
    CHECK_IS(lazy_once_configure(&poisoned, &config), LAZY_OK);
    CHECK_IS(LAZY_INIT(&poisoned), LAZY_OK);
    sigfillset(&all);
    CHECK_IS(pthread_sigmask(SIG_SETMASK, &all, &before), 0); /* the signals are this thread's */
    start(initializes, NULL);
    gate_wait(&initializer.inside);
    for (int i = 0; i < 3; i++) start(works, &busy[i]);
    CHECK_IS(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    CHECK_IS(sigaction(SIGALRM, &action, NULL), 0);
    for (int round = 0; round < rounds(1000); round++) {
        /* One signal, somewhere in the next piece of work. */
        struct itimerval once = { { 0, 0 }, { 0, 1 + round / 6 % 60 } };
        int so_far = handled;
        for (too_early = 1; handled == so_far; work(round)) {
            if (!too_early) continue;
            too_early = 0;
            CHECK_IS(setitimer(ITIMER_REAL, &once, NULL), 0);
        }
        if (is_child) check_child();
    }
    CHECK_IS(children, handled);
    return finish();
}
