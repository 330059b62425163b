// Guards against a parent that suffers from its helpers: an initializer, a prepare and a queued request run other programs and
// wait for them, by fork and exec, a plain child, system, popen, posix_spawn and vfork. Whatever a child does to its copy,
// in the parent the attempt goes on, under every fork policy, with waiters present.
#include "callers.h"
#include "forked_child.h"
#include <spawn.h>

extern char **environ;
static lazy_once *once;
static atomic_int ran, is_child;
static caller waiter;

static void check_ended(pid_t pid) {
    int status = -1;
    CHECK(pid > 0);
    CHECK_IS(waitpid(pid, &status, 0), pid);
    CHECK_IS(status, 0);
}
static void child_uses_its_copy(void) {
    lazy_once own = LAZY_ONCE_INIT;
    atomic_store(&is_child, 1);
    lazy_once_init_timeout(once, 0);
    lazy_once_reset(once);
    lazy_once_cancel_owner(once, &ran);
    CHECK_IS(lazy_once_run(&own, nothing, NULL), LAZY_OK);
    lazy_once_close(once);
}
static void run_helpers(void) {
    char *const arguments[] = { (char *)"true", NULL };
    char line[16] = "";
    pid_t pid = fork();
    if (pid == 0) {
        execvp("true", arguments);
        _exit(127);
    }
    check_ended(pid);
    in_child(child_uses_its_copy);
    CHECK_IS(system("true"), 0);
    FILE *pipe = popen("echo helped", "r");
    CHECK(pipe && fgets(line, sizeof line, pipe));
    CHECK_IS(pclose(pipe), 0);
    CHECK_HAS(line, "helped");
    CHECK_IS(posix_spawnp(&pid, "true", NULL, NULL, arguments, environ), 0);
    check_ended(pid);
    pid = vfork();
    if (pid == 0) {
        execvp("true", arguments);
        _exit(127);
    }
    check_ended(pid);
}
static int32_t prepare(void *ctx) {
    (void)ctx;
    if (atomic_load(&is_child)) return 0;
    run_helpers();
    CHECK(!lazy_once_is_initializing(once));
    return 0;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    if (atomic_load(&is_child)) return 0;
    begin(&waiter, in_init, once);
    until_waiting(&waiter);
    run_helpers();
    CHECK(lazy_once_is_initializing(once));
    CHECK_IS(lazy_once_init(once), LAZY_IN_PROGRESS);
    CHECK_IS(info_of(once).phase, LAZY_INITIALIZING);
    CHECK_IS(info_of(once).waiters, 1);
    return 0;
}
static int32_t request(void *ctx) {
    (void)ctx;
    if (atomic_load(&is_child)) return 0;
    run_helpers();
    CHECK_IS(info_of(once).phase, LAZY_DRAINING);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_OK);
    return 0;
}

int main(void) {
    static lazy_once onces[3];
    for (uint32_t policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) {
        lazy_config config = LAZY_CONFIG_INIT;
        once = &onces[policy];
        config.prepare = prepare;
        config.initialize = initialize;
        config.on_fork = policy;
        atomic_store(&ran, 0);
        CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
        CHECK_IS(lazy_once_call(once, request, NULL), LAZY_QUEUED);
        CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
        CHECK_IS(ended(&waiter), LAZY_OK);
        run_helpers();
        CHECK(lazy_once_is_initialized(once));
        CHECK_IS(atomic_load(&ran), 2);
        CHECK_IS(lazy_once_close(once), LAZY_OK);
    }
    return finish();
}
