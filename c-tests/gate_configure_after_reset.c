// flags: -rdynamic
// Guards against a reset once that cannot be given another configuration, or that stays open to one after its next
// attempt: reset allows it again, until somebody initializes; then the error names that somebody, not the first one.
#include "callers.h"

static atomic_int first_runs, second_runs;
static int32_t first(void *ctx) { (void)ctx; return count(&first_runs); }
static int32_t second(void *ctx) { (void)ctx; return count(&second_runs); }
static int32_t fails(void *ctx) { (void)ctx; return 1; }

__attribute__((noinline)) void initializes_first(lazy_once *once);
void initializes_first(lazy_once *once) {
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    atomic_store(&first_runs, 0);
}
__attribute__((noinline)) void initializes_again(lazy_once *once);
void initializes_again(lazy_once *once) {
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(atomic_load(&second_runs), 1);
    atomic_store(&second_runs, 0);
}

static void reconfigure(lazy_once *once, bool named) {
    lazy_config a = LAZY_CONFIG_INIT, b = LAZY_CONFIG_INIT;
    a.name = "first configuration";
    a.initialize = first;
    b.name = "second configuration";
    b.initialize = second;
    initializes_first(once);
    CHECK_IS(lazy_once_configure(once, &b), LAZY_E_TOO_LATE);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    if (!named) CHECK_IS(lazy_once_configure(once, &a), LAZY_OK); /* the last one counts */
    CHECK_IS(lazy_once_configure(once, &b), LAZY_OK);
    initializes_again(once);
    CHECK_IS(atomic_load(&first_runs), 0);
    CHECK_IS(lazy_once_configure(once, &b), LAZY_OK);
    CHECK_IS(lazy_once_configure(once, &a), LAZY_E_TOO_LATE);
    CHECK_HAS(lazy_last_error()->init_site.function, "initializes_again");
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    CHECK_IS(info_of(once).generation, 2);
}

int main(void) {
    static lazy_once configured, plain, failed;
    static const lazy_config bound = { .size = sizeof(lazy_config), .name = "bound", .initialize = first };
    static lazy_once constant = LAZY_ONCE_WITH(&bound);
    lazy_config config = bound;
    CHECK_IS(lazy_once_configure(&configured, &config), LAZY_OK);
    reconfigure(&configured, false);
    reconfigure(&constant, false);
    reconfigure(&plain, false);
    reconfigure(lazy_default(), false);
    reconfigure(lazy_once_named("configured anew"), true);

    config.initialize = fails; /* a failed attempt is an attempt, and reset forgets it as well */
    config.on_failure = LAZY_FAIL_STICKY;
    CHECK_IS(lazy_once_configure(&failed, &config), LAZY_OK);
    CHECK_IS(lazy_once_init(&failed), LAZY_E_INIT);
    CHECK_IS(lazy_once_configure(&failed, &bound), LAZY_E_TOO_LATE);
    CHECK_IS(lazy_once_reset(&failed), LAZY_OK);
    CHECK_IS(lazy_once_configure(&failed, &bound), LAZY_OK);
    CHECK_IS(lazy_once_init(&failed), LAZY_OK);
    return finish();
}
