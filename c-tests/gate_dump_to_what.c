// Guards against a dump that swallows the failure of its write, or that gives up half way: a descriptor that is not
// open or not for writing, and a full device, are errors; a pipe that takes little at a time gets everything, and
// meanwhile nobody else is held up; errno is the caller's own in each case.
#include "callers.h"
#include "dumped.h"
#include <poll.h>

static lazy_once onces[400];
static int ends[2];

static lazy_status dumps(void *ctx) {
    lazy_status status = lazy_dump(*(int *)ctx);
    close(*(int *)ctx);
    return status;
}
static void check_refused(int fd) {
    errno = 42;
    CHECK(lazy_dump(fd) < 0);
    CHECK_IS(errno, 42);
    CHECK(lazy_last_error()->status < 0);
    CHECK(*lazy_last_error()->message != 0);
}

int main(void) {
    for (int i = 0; i < 400; i++) {
        char name[80];
        lazy_config config = LAZY_CONFIG_INIT;
        snprintf(name, sizeof name, "number %d of the many onces that do not fit into a pipe;", i);
        config.name = name;
        CHECK_IS(lazy_once_configure(&onces[i], &config), LAZY_OK);
    }
    check_refused(-1);
    check_refused(987654);
    int only_read = open("/dev/null", O_RDONLY), full = open("/dev/full", O_WRONLY);
    check_refused(only_read);
    if (full >= 0) check_refused(full);

    CHECK_IS(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    char *whole = dumped(), *piped = (char *)calloc(1, strlen(whole) * 2);
    CHECK(whole != NULL && piped != NULL);
    size_t size = 0, most = strlen(whole) * 2 - 1;
    caller dumping;
    begin(&dumping, dumps, &ends[1]);
    struct pollfd writable = { ends[1], POLLOUT, 0 };
    while (poll(&writable, 1, 0) != 0) sched_yield();
    lazy_once other = LAZY_ONCE_INIT; /* the dump waits for its reader, and nobody waits for the dump */
    CHECK_IS(lazy_once_call(&other, nothing, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(lazy_once_named("made during a dump")), LAZY_OK);
    CHECK_IS(lazy_once_init(&onces[200]), LAZY_OK);
    CHECK_IS(lazy_once_close(&other), LAZY_OK);
    for (ssize_t got; (got = read(ends[0], piped + size, most - size < 100 ? most - size : 100)) > 0;) size += (size_t)got;
    CHECK_IS(ended(&dumping), LAZY_OK);
    CHECK(size > 400 * 50);
    for (int i = 0; i < 400; i++) {
        char name[80];
        snprintf(name, sizeof name, "number %d of the many onces that do not fit into a pipe;", i);
        CHECK_HAS(whole, name);
        CHECK_HAS(piped, name);
    }
    free(whole);
    free(piped);
    close(ends[0]);
    close(only_read);
    if (full >= 0) close(full);
    return finish();
}
