// not-under: valgrind: the program that it starts once more would be valgrind itself
// Guards against a diagnosis that does harm: a pipe whose reader is gone is an error of lazy_dump and no SIGPIPE, which stays as the program
// has it; where stderr is a pipe that nobody empties, a warning is left out, and the wait that it is about keeps its limit.
#include "callers.h"
#include "dumped.h"
#include <signal.h>
#include <sys/wait.h>

static void no_reader(void) {
    int pipes[2];
    sigset_t pending;
    CHECK_IS(pipe(pipes), 0);
    close(pipes[0]);
    CHECK_IS(lazy_dump(pipes[1]), LAZY_E_INVALID);
    CHECK_HAS(lazy_last_error()->message, "Broken pipe");
    CHECK_IS(sigpending(&pending), 0);
    CHECK_IS(sigismember(&pending, SIGPIPE), 0);
    /* One that the program has put off itself is still there afterwards. */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    CHECK_IS(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    CHECK_IS(raise(SIGPIPE), 0);
    CHECK_IS(lazy_dump(pipes[1]), LAZY_E_INVALID);
    CHECK_IS(sigpending(&pending), 0);
    CHECK_IS(sigismember(&pending, SIGPIPE), 1);
    int number;
    CHECK_IS(sigwait(&set, &number), 0);
    CHECK_IS(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
    close(pipes[1]);
}
/* With LAZYONCE_WARN_AFTER and a stderr that is full. */
static int limited(void) {
    static lazy_once once;
    static hold inside = HOLD_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    config.initialize = held;
    config.ctx = &inside;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    caller owner;
    begin(&owner, in_init, &once);
    gate_wait(&inside.inside);
    CHECK_IS(lazy_once_init_timeout(&once, 300000000), LAZY_E_TIMEOUT);
    gate_open(&inside.go);
    return ended(&owner);
}
static void no_room(void) {
    int pipes[2];
    CHECK_IS(pipe(pipes), 0);
    CHECK_IS(fcntl(pipes[1], F_SETFL, O_NONBLOCK), 0);
    while (write(pipes[1], "full", 4) > 0) continue;
    CHECK_IS(fcntl(pipes[1], F_SETFL, 0), 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setenv("LAZYONCE_WARN_AFTER", "0.05", 1);
        dup2(pipes[1], 2);
        alarm(30);
        execl("/proc/self/exe", "limited", "limited", (char *)NULL);
        _exit(99);
    }
    int status = 0;
    CHECK_IS(waitpid(child, &status, 0), child);
    CHECK_IS(status, 0);
}

int main(int argc, char **arguments) {
    (void)arguments;
    if (argc > 1) return limited();
    no_reader();
    no_room();
    return finish();
}
