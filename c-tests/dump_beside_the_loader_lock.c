// shared: load_hook.c
// flags: -rdynamic
// Guards against a dump that hangs with the process that it is to explain: while the loader's lock is held by a thread whose constructor
// waits for an attempt, the dump says who initializes, and from which object that was started, without that lock.
#include "dumped.h"
#include "loader_lock.h"

void *function_with_a_name(void *arg);
void *function_with_a_name(void *arg) {
    CHECK_IS(lazy_once_init_timeout((lazy_once *)arg, UINT64_MAX), LAZY_OK);
    return NULL;
}

int main(void) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "the one behind the loader";
    config.initialize = held;
    config.ctx = &initializer;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    pthread_t owner = start(function_with_a_name, &once);
    hold_the_loader();
    char *text = dumped(), *line = line_about(text, "the one behind the loader");
    CHECK_HAS(line, "initializing");
    CHECK_HAS(line, "1 waiting");
    CHECK_HAS(line, "started at function_with_a_name in ");
    CHECK_HAS(line, strrchr(program_invocation_name, '/'));
    CHECK(has_number(line, atomic_load(&initializer.thread)));
    free(line);
    free(text);
    let_the_loader_go();
    join(owner);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
