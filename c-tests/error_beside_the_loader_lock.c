// shared: load_hook.c
// flags: -rdynamic
// Guards against an error that hangs where the call did not: while the loader's lock is held by a thread whose constructor waits for an
// attempt, a call with a limit comes back with who initializes, and from which function that was started, without that lock.
#include "loader_lock.h"

void *function_with_a_name(void *arg);
void *function_with_a_name(void *arg) {
    CHECK_IS(lazy_once_run(&once, held, arg), LAZY_OK);
    return arg;
}

int main(void) {
    pthread_t owner = start(function_with_a_name, &initializer);
    hold_the_loader();
    CHECK_IS(lazy_once_init_timeout(&once, 1000000), LAZY_E_TIMEOUT);
    const lazy_error *error = lazy_last_error();
    CHECK_HAS(error->message, "function_with_a_name in ");
    CHECK_HAS(error->init_site.function, "function_with_a_name");
    CHECK_HAS(error->init_site.file, strrchr(program_invocation_name, '/'));
    CHECK_HAS(info_of(&once).init_site.function, "function_with_a_name");
    let_the_loader_go();
    join(owner);
    return finish();
}
