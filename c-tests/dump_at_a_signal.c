// not-under: valgrind tsan: the program that it starts once more would be valgrind itself, and the other handles signals itself
// Guards against a process that hangs and cannot be asked: with LAZYONCE_DUMP_SIGNAL set, that signal writes the dump to stderr, by name or
// number, on whatever thread it meets, one that sleeps in a wait or one that is in the middle of the library's own work; nothing is disturbed.
// What is no signal, or none that can be handled, is said once, and the program goes on.
#include "warned.h"
#include <signal.h>
#include <sys/ioctl.h>

static lazy_once once = LAZY_ONCE_INIT;
static hold inside = HOLD_INIT;

static int written(void) {
    int size = -1;
    CHECK_IS(ioctl(2, FIONREAD, &size), 0);
    return size;
}
static void *waits(void *ctx) {
    CHECK_IS(lazy_once_init((lazy_once *)ctx), LAZY_OK);
    return NULL;
}
/* The signal meets the waiter, which sleeps, and then the main thread at any moment of its work. */
static int work(int number) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "the held one";
    config.initialize = held;
    config.ctx = &inside;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    pthread_t owner = start(waits, &once);
    gate_wait(&inside.inside);
    caller waiter;
    begin(&waiter, in_init, &once);
    until_waiting(&waiter);
    fprintf(stderr, "owner %d\n", atomic_load(&inside.thread));
    int before = written();
    CHECK_IS(pthread_kill(waiter.thread, number), 0);
    while (written() == before) sched_yield();
    until_waiting(&waiter);
    for (int i = 0; i < 20; i++) {
        lazy_once brief = LAZY_ONCE_INIT;
        CHECK_IS(kill(getpid(), number), 0);
        CHECK_IS(lazy_once_call(&brief, nothing, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(&brief), LAZY_OK);
    }
    gate_open(&inside.go);
    join(owner);
    CHECK_IS(ended(&waiter), LAZY_OK);
    return 0;
}
static void check_dumps(const char *name, const char *mode) {
    char owner[64];
    int id = 0;
    warned_with("LAZYONCE_DUMP_SIGNAL", name, mode);
    CHECK_IS(sscanf(warnings, "owner %d", &id), 1);
    snprintf(owner, sizeof owner, ", on thread %d,", id);
    CHECK_HAS(warnings, "once \"the held one\" at ");
    CHECK_HAS(warnings, owner);
    CHECK_HAS(warnings, "1 waiting");
    CHECK_HAS(warnings, "the process default at ");
    CHECK(warning_count("lazyonce 0.") >= 2);
}

int main(int argc, char **arguments) {
    if (argc > 1 && strcmp(arguments[1], "nothing") == 0) return lazy_once_init(&once);
    if (argc > 1) return work(atoi(arguments[1]));
    char number[16], usr1[16];
    snprintf(number, sizeof number, "%d", SIGUSR2);
    snprintf(usr1, sizeof usr1, "%d", SIGUSR1);
    check_dumps("SIGUSR1", usr1);
    check_dumps("USR2", number);
    check_dumps(number, number);
    check_dumps("INT", "2");
    snprintf(number, sizeof number, "%d", SIGRTMAX - 2);
    check_dumps("SIGRTMAX-2", number);
    static const char *const bad[] = { "9", "STOP", "11", "SEGV", "SIGABRT", "0", "65", "-1", "USR3", "SIG", "RTMIN+99", "RTMIN-1", "RTMIN1", "RTMIN+", "RTMAX-99", "RTMAX+1", "RTMAX1", "RTMAX-", "+3", "SIG+3", " 3" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        warned_with("LAZYONCE_DUMP_SIGNAL", bad[i], "nothing");
        CHECK_IS(warning_count("(LAZYONCE_DUMP_SIGNAL)"), 1);
        CHECK_IS(warning_count("\n"), 1);
    }
    return finish();
}
