// Guards against a refusal that says nothing: LAZY_E_FORKED in a child names the once, the parent's process, the thread and
// the line that initialized there, on the default and on a named once; and a reset makes each usable.
#include "callers.h"
#include "forked_child.h"

static lazy_once *onces[2];
static lazy_config config = { .size = sizeof(lazy_config), .name = "backend", .initialize = nothing, .on_fork = LAZY_FORK_POISON };
static atomic_int initializing_thread;
static uint32_t line;
static pid_t parent;

static void *initializes(void *once) {
    atomic_store(&initializing_thread, thread_id());
    line = __LINE__ + 1;
    CHECK_IS(LAZY_INIT((lazy_once *)once), LAZY_OK);
    return NULL;
}
static void check_named(const char *name) {
    char pid[16], thread[16], place[64];
    const lazy_error *error = lazy_last_error();
    snprintf(pid, sizeof pid, "%d", (int)parent);
    snprintf(thread, sizeof thread, "%d", atomic_load(&initializing_thread));
    snprintf(place, sizeof place, "fork_error_names_the_parent.c:%u", (unsigned)line);
    CHECK_IS(error->status, LAZY_E_FORKED);
    CHECK_HAS(error->once, name);
    CHECK_HAS(error->message, name);
    CHECK_HAS(error->message, pid);
    CHECK_HAS(error->message, thread);
    CHECK_HAS(error->message, place);
    CHECK_IS(error->init_site.line, line);
    CHECK_IS(error->owner_thread, atomic_load(&initializing_thread));
}
static void child_of(lazy_once *once, const char *name) {
    CHECK_IS(lazy_once_init(once), LAZY_E_FORKED);
    check_named(name);
    CHECK_IS(lazy_once_run(once, never, NULL), LAZY_E_FORKED);
    check_named(name);
    CHECK_IS(LAZY_CALL(once, never, NULL), LAZY_E_FORKED);
    check_named(name);
    CHECK_IS(info_of(once).init_pid, parent);
    CHECK_IS(info_of(once).init_site.line, line);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    CHECK_IS(info_of(once).phase, LAZY_FRESH);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(info_of(once).init_pid, getpid());
}
static void child_of_named(void) { child_of(onces[0], "shared"); }
static void child_of_default(void) {
    CHECK(!is_initialized());
    CHECK_IS(lazy_init(), LAZY_E_FORKED);
    CHECK_IS(lazy_call(never, NULL), LAZY_E_FORKED);
    child_of(onces[1], "backend");
    CHECK(is_initialized());
}

int main(void) {
    parent = getpid();
    onces[0] = lazy_once_named("shared");
    onces[1] = lazy_default();
    for (int i = 0; i < 2; i++) {
        CHECK_IS(lazy_once_configure(onces[i], &config), LAZY_OK);
        join(start(initializes, onces[i]));
        in_child(i == 0 ? child_of_named : child_of_default);
        CHECK(lazy_once_is_initialized(onces[i]));
    }
    return finish();
}
