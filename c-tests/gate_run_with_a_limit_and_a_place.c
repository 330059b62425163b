// Guards against a lazy_once_run_slow that mixes up what it is given: an initializer of the call or the configured one, a limit of the
// call, zero, without end or the configured one, and the place, or the address that called it.
#include "check.h"

static int ran[2];
static gate inside = GATE_INIT, go = GATE_INIT;
static int32_t counts(void *ctx) {
    return ++*(int *)ctx, 0;
}
static int32_t stays(void *ctx) {
    gate_open(&inside);
    gate_wait(&go);
    return lazy_fail(7, (const char *)ctx);
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "driver", .initialize = counts, .ctx = &ran[0],
                                    .timeout_ns = 1000000 };
static lazy_once once = LAZY_ONCE_WITH(&config);
static const lazy_site site = { "somewhere.cpp", 77, "starts" };

static lazy_status start_with(lazy_fn initializer, void *ctx, const uint64_t *limit) {
    return lazy_once_run_slow(&once, initializer, ctx, limit, &site);
}
static void *runs(void *ctx) {
    CHECK_IS(start_with(stays, ctx, NULL), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->code, 7);
    CHECK_HAS(lazy_last_error()->message, "started at somewhere.cpp:77 (starts)");
    CHECK(!strcmp(lazy_last_error()->init_site.file, "somewhere.cpp"));
    return ctx;
}
static void *waits(void *ctx) {
    uint64_t limit = UINT64_MAX;
    CHECK_IS(start_with(NULL, NULL, &limit), LAZY_E_INIT);
    return ctx;
}

int main(void) {
    static char text[] = "unplugged";
    uint64_t limit = 0;
    pthread_t owner = start(runs, text);
    gate_wait(&inside);
    CHECK_IS(start_with(NULL, NULL, &limit), LAZY_E_TIMEOUT);
    CHECK_IS(start_with(NULL, NULL, NULL), LAZY_E_TIMEOUT); /* as configured */
    pthread_t patient = start(waits, text);
    lazy_info info = LAZY_INFO_INIT;
    do CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    while (info.waiters == 0);
    gate_open(&go);
    join(owner);
    join(patient);
    CHECK_IS(start_with(counts, &ran[1], &limit), LAZY_OK);
    CHECK(ran[0] == 0 && ran[1] == 1);
    CHECK_IS(start_with(stays, NULL, NULL), LAZY_OK); /* ready */
    CHECK_IS(lazy_once_reset(&once), LAZY_OK);
    CHECK_IS(lazy_once_run_slow(&once, NULL, NULL, NULL, NULL), LAZY_OK);
    CHECK(ran[0] == 1 && ran[1] == 1);
    CHECK_IS(lazy_once_run_slow(NULL, counts, &ran[1], NULL, &site), LAZY_E_INVALID);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
