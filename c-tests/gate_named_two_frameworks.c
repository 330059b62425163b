// Guards against two frameworks that start "cuda" twice, or where the second silently replaces the first one's start-up
// before anybody used it: an equal configuration is LAZY_OK, a different one LAZY_E_TOO_LATE that names the first, also
// while the once is fresh; both queue for the one start and both find it done.
#include "callers.h"

static hold driver = HOLD_INIT;
static int32_t other_driver(void *ctx) { return never(ctx); }
typedef struct framework { atomic_int seeded, used; } framework;
static framework frameworks[2];

static lazy_config cuda(void) {
    static char names[2][24] = { "cuda by the first", "cuda by the first" };
    static int next;
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = names[next++ % 2];
    config.initialize = held;
    config.ctx = &driver;
    return config;
}
static void check_refused(lazy_once *once) {
    lazy_config different = cuda();
    different.name = "cuda by the second";
    different.initialize = other_driver;
    CHECK_IS(lazy_once_configure(once, &different), LAZY_E_TOO_LATE);
    CHECK_HAS(lazy_last_error()->message, "cuda by the first");
    lazy_config same = cuda();
    CHECK_IS(lazy_once_configure(once, &same), LAZY_OK);
}
static lazy_status uses(void *ctx) {
    framework *mine = (framework *)ctx;
    lazy_once *once = lazy_once_named("cuda");
    if (lazy_once_init(once) != LAZY_OK) return lazy_last_error()->status;
    CHECK_IS(atomic_load(&mine->seeded), 1);
    return lazy_once_call(once, count, &mine->used);
}

int main(void) {
    caller callers[2];
    lazy_config first = cuda();
    CHECK_IS(lazy_once_configure(lazy_once_named("cuda"), &first), LAZY_OK);
    check_refused(lazy_once_named("cuda"));
    for (int i = 0; i < 2; i++)
        CHECK_IS(lazy_once_call(lazy_once_named("cuda"), count, &frameworks[i].seeded), LAZY_QUEUED);
    check_refused(lazy_once_named("cuda"));
    for (int i = 0; i < 2; i++) begin(&callers[i], uses, &frameworks[i]);
    gate_wait(&driver.inside);
    check_refused(lazy_once_named("cuda"));
    gate_open(&driver.go);
    for (int i = 0; i < 2; i++) {
        CHECK_IS(ended(&callers[i]), LAZY_OK);
        CHECK_IS(atomic_load(&frameworks[i].used), 1);
    }
    check_refused(lazy_once_named("cuda"));
    CHECK_IS(atomic_load(&driver.runs), 1);
    return finish();
}
