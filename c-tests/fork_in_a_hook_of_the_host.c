// Guards against an init that lies in a child: a hook of the host forks after what it ran has made the once ready. In the child the policy has
// decided meanwhile: under POISON the init that is still on the stack says LAZY_E_FORKED, under RESET it initializes for the child, under KEEP
// the once is ready. In the parent nothing has happened.
#include "callers.h"
#include "forked_child.h"

static pid_t child;
static int32_t forks_afterwards(void *ctx, void (*body)(void *arg), void *arg) {
    (void)ctx;
    body(arg);
    if (child < 0) child = fork();
    return 0;
}

int main(void) {
    static const lazy_host host = { .size = sizeof(lazy_host), .name = "forking", .run_attached = forks_afterwards };
    static const lazy_status outcomes[] = { LAZY_OK, LAZY_E_FORKED, LAZY_OK };
    static const int starts[] = { 1, 1, 2 };
    for (uint32_t policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) {
        static lazy_once onces[3];
        lazy_once *once = &onces[policy];
        atomic_int started = 0;
        lazy_config config = { .size = sizeof config, .name = "forked", .initialize = count, .ctx = &started, .host = &host, .on_fork = policy };
        CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
        child = -1;
        fflush(NULL);
        lazy_status status = lazy_once_init(once);
        if (child == 0) {
            alarm(20);
            CHECK_IS(status, outcomes[policy]);
            CHECK_IS(atomic_load(&started), starts[policy]);
            CHECK_IS(lazy_once_is_initialized(once), status == LAZY_OK);
            _exit(0);
        }
        CHECK_IS(status, LAZY_OK);
        CHECK_IS(atomic_load(&started), 1);
        CHECK(lazy_once_is_initialized(once));
        check_child(child);
    }
    return finish();
}
