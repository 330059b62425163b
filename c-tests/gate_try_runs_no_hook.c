// Guards against a try that loads a library or asks the device before it gives up: while another thread initializes or
// drains, lazy_once_init_timeout(once, 0) is LAZY_E_TIMEOUT before prepare and can_init; otherwise it runs the attempt
// with both.
#include "callers.h"

static hold start_up = HOLD_INIT, request = HOLD_INIT;
static atomic_int prepared, asked;
static int32_t prepare(void *ctx) {
    (void)ctx;
    return count(&prepared);
}
static int32_t can_init(void *ctx) {
    (void)ctx;
    return count(&asked);
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "tried", .prepare = prepare, .can_init = can_init,
                                    .initialize = held, .ctx = &start_up };
static lazy_once once = LAZY_ONCE_WITH(&config);
static lazy_status in_try(void *ctx) { return lazy_once_init_timeout((lazy_once *)ctx, 0); }

int main(void) {
    caller owner;
    CHECK_IS(lazy_once_call(&once, held, &request), LAZY_QUEUED);
    begin(&owner, in_try, &once);
    gate_wait(&start_up.inside);
    int were_asked = atomic_load(&asked);
    CHECK(were_asked > 0);
    CHECK_IS(atomic_load(&prepared), 1);
    for (int i = 0; i < 3; i++) CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
    gate_open(&start_up.go);
    gate_wait(&request.inside);
    for (int i = 0; i < 3; i++) CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
    CHECK_IS(atomic_load(&asked), were_asked);
    CHECK_IS(atomic_load(&prepared), 1);
    gate_open(&request.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_OK);
    CHECK_IS(atomic_load(&prepared), 1);
    return finish();
}
