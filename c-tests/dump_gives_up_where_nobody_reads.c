// not-under: valgrind: the program that it starts once more would be valgrind itself
// not-under: tsan: it handles signals itself
// Guards against a process that the dump at a signal stops for ever: stderr is a pipe that nobody reads and that has room for less than the
// dump, and the thread that gets the signal goes on nevertheless.
#include "warned.h"
#include <poll.h>
#include <signal.h>

enum { WAITERS = 100, PAGE = 4096 };
static hold inside = HOLD_INIT;
static const lazy_config config = { .size = sizeof(lazy_config), .name = "engine", .initialize = held, .ctx = &inside };
static lazy_once once = LAZY_ONCE_WITH(&config);

/* All but one of the places in the pipe are taken. */
static void fill(int fd) {
    char page[PAGE] = "";
    struct pollfd asked = { .fd = fd, .events = POLLOUT };
    int pages = fcntl(fd, F_GETPIPE_SZ) / PAGE;
    for (int i = 1; i < pages; i++) CHECK_IS(write(fd, page, PAGE), PAGE);
    CHECK_IS(poll(&asked, 1, 0), 1);
}
static int work(void) {
    static caller owner, waiters[WAITERS];
    int ends[2];
    begin(&owner, in_init, &once);
    gate_wait(&inside.inside);
    for (int i = 0; i < WAITERS; i++) begin(&waiters[i], in_init, &once);
    for (int i = 0; i < WAITERS; i++) until_waiting(&waiters[i]);
    CHECK_IS(pipe(ends), 0);
    fill(ends[1]);
    CHECK_IS(dup2(ends[1], 2), 2);
    for (int i = 0; i < 5; i++) CHECK_IS(raise(SIGQUIT), 0);
    gate_open(&inside.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    for (int i = 0; i < WAITERS; i++) CHECK_IS(ended(&waiters[i]), LAZY_OK);
    return 0;
}

int main(int argc, char **arguments) {
    (void)arguments;
    if (argc > 1) return work();
    warned_with("LAZYONCE_DUMP_SIGNAL", "QUIT", "unread");
    return finish();
}
