// Guards against a library that goes on half unwound, or that swallows one of two exceptions: a `drop` that throws, or ends its
// thread, on the way of its own request's exception ends the process, by SIGABRT and with a line that says why; run at once,
// in the drain, and for a request that is replaced by one that throws. So does an observer, which the line names. The controls throw once, and live.
#include "requests.h"
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

struct refused {};
enum what { SUCCEEDS, THROWS, ENDS };
enum where { AT_ONCE, IN_DRAIN, REPLACED, OBSERVED };
static what in_drop;
static const lazy_config config = { sizeof(lazy_config), "drops", 0, 0, 0, 0, 0, 0, LAZY_DEFERRED_DROP, 0, 0, 0 };

static int32_t throwing(void *) {
    throw refused{};
}
static void drop(void *) {
    if (in_drop == THROWS) throw refused{};
    if (in_drop == ENDS) pthread_exit(nullptr);
}
static int32_t submits(void *once) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = throwing;
    request.key = 1;
    lazy_once_submit(static_cast<lazy_once *>(once), &request, nullptr);
    return 0;
}
static void runs(where place) {
    static lazy_once once = LAZY_ONCE_WITH(&config);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = throwing;
    request.drop = drop;
    if (place == AT_ONCE) {
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        lazy_once_submit(&once, &request, nullptr);
    } else if (place == OBSERVED) {
        lazy_observer observer = { sizeof observer, nullptr, [](void *, const lazy_event *) { drop(nullptr); } };
        CHECK_IS(lazy_set_observer(&observer), LAZY_OK);
        lazy_once_run(&once, throwing, nullptr);
    } else if (place == IN_DRAIN) {
        queue_request(&once, request);
        lazy_once_init(&once);
    } else {
        request.key = 1;
        lazy_request first = LAZY_REQUEST_INIT;
        first.fn = submits; /* runs first, replaces the other one, and throws */
        first.ctx = &once;
        queue_request(&once, first);
        queue_request(&once, request);
        lazy_once_init(&once);
    }
}
/* How the child ended, and what it said. */
static int child(where place, what drops, std::string &said) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        alarm(20);
        in_drop = drops;
        try {
            runs(place);
        } catch (const refused &) {
            _exit(0);
        }
        _exit(1);
    }
    close(ends[1]);
    char part[256];
    for (ssize_t length; (length = read(ends[0], part, sizeof part)) > 0;) said.append(part, length);
    close(ends[0]);
    int status = 0;
    CHECK_IS(waitpid(pid, &status, 0), pid);
    return status;
}

int main() {
    for (where place : { AT_ONCE, IN_DRAIN, REPLACED, OBSERVED }) {
        for (what drops : { SUCCEEDS, THROWS, ENDS }) {
            std::string said;
            int status = child(place, drops, said);
            if (drops == SUCCEEDS) {
                CHECK(WIFEXITED(status));
                CHECK_IS(WEXITSTATUS(status), 0);
                continue;
            }
            CHECK(WIFSIGNALED(status));
            CHECK_IS(WTERMSIG(status), SIGABRT);
            CHECK(said.find("lazyonce: a callback threw, or ended its thread, on the way of another exception") != said.npos);
            CHECK(said.find("or an on_event did") != said.npos);
        }
    }
    return finish();
}
