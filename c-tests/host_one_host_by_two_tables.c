// Guards against two tables of one host, as a header compiled into two extensions makes them, that count as two: a named once
// configured with the one accepts the other as equal, and no third.
#include "check.h"

static int let_go, attached;
static int32_t run_attached(void *ctx, void (*body)(void *arg), void *arg) {
    (void)ctx;
    attached++;
    body(arg);
    attached--;
    return 0;
}
static int32_t wait_detached(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg) {
    (void)ctx;
    (void)interrupt;
    let_go++;
    park(arg);
    return 0;
}
static int interpreter;
static const lazy_host tables[2] = { { sizeof(lazy_host), "host", &interpreter, run_attached, wait_detached },
                                     { sizeof(lazy_host), "host", &interpreter, run_attached, wait_detached } };
static const lazy_host other = { sizeof(lazy_host), "another", &interpreter, run_attached, wait_detached };
static int32_t nothing(void *ctx) {
    (void)ctx;
    return 0;
}

int main(void) {
    lazy_once *once = lazy_once_named("shared by two extensions");
    lazy_config config = { .size = sizeof(lazy_config), .initialize = nothing, .host = &tables[0] };
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    config.host = &tables[1];
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    config.host = &other;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_E_TOO_LATE);
    config.host = NULL;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_E_TOO_LATE);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(attached, 0);
    CHECK_IS(let_go, 0);
    return finish();
}
