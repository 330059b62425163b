// not-under: tsan asan valgrind: the allocator of the tool is not made for a signal handler that forks, and the first delivers signals where it likes
// Guards against a library that takes its own lock twice: a signal handler that interrupts it at any instruction, on the same
// thread, may fork, and may call in and is answered or refused, but neither ever sleeps on what is held beneath it.
#include "check.h"
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static lazy_once once;
static volatile sig_atomic_t forks, handled, refused;
static int32_t nothing(void *ctx) {
    (void)ctx;
    return 0;
}
static void handler(int number) {
    int error = errno;
    (void)number;
    if (forks) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    } else {
        lazy_status status = lazy_once_init(&once);
        if (status == LAZY_E_DEADLOCK) refused++;
        else if (status != LAZY_OK && status != LAZY_IN_PROGRESS) _exit(3);
    }
    handled++;
    errno = error;
}
static void use(int what) {
    static int owner;
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_info info = LAZY_INFO_INIT;
    lazy_once brief = LAZY_ONCE_INIT;
    request.fn = nothing;
    request.owner = &owner;
    switch (what) {
        case 0: lazy_once_init(&once); lazy_once_reset(&once); break;
        case 1: lazy_once_call(&once, nothing, NULL); lazy_once_init(&once); lazy_once_reset(&once); break;
        case 2: lazy_once_info(&once, &info); break;
        case 3: lazy_once_submit(&once, &request, &receipt); lazy_once_cancel(&once, receipt.ticket); break;
        case 4: lazy_once_submit(&once, &request, &receipt); lazy_once_cancel_owner(&once, &owner); break;
        case 5: lazy_once_named("named"); break;
        case 6: lazy_once_call(&brief, nothing, NULL); lazy_once_close(&brief); break;
    }
}

int main(void) {
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    CHECK_IS(sigaction(SIGALRM, &action, NULL), 0);
    for (int what = 0; what < 14; what++) {
        forks = what % 2;
        handled = 0;
        struct itimerval timer = { { 0, forks ? 2009 : 509 }, { 0, forks ? 2009 : 509 } }, off = { { 0, 0 }, { 0, 0 } };
        time_t enough = time(NULL) + 20;
        CHECK_IS(setitimer(ITIMER_REAL, &timer, NULL), 0);
        while (handled < rounds(forks ? 300 : 1500) / 10 && time(NULL) < enough)
            for (int i = 0; i < 20; i++) use(what / 2);
        CHECK_IS(setitimer(ITIMER_REAL, &off, NULL), 0);
        CHECK(handled > 0);
    }
    return finish();
}
