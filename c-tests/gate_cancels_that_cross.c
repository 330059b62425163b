// Guards against two requests that wait for each other to end: on two onces, each cancels the other one. Exactly one is told
// LAZY_E_DEADLOCK, at once; it returns, and with it the other's cancel.
#include "requests.h"

static const lazy_config configs[2] = { { .size = sizeof(lazy_config), .name = "left" },
                                        { .size = sizeof(lazy_config), .name = "right" } };
static lazy_once onces[2] = { LAZY_ONCE_WITH(&configs[0]), LAZY_ONCE_WITH(&configs[1]) };
static uint64_t tickets[2];
static gate running[2] = { GATE_INIT, GATE_INIT };
static int refused, ended;

static int32_t cancels_the_other(void *ctx) {
    int mine = (int)(intptr_t)ctx, other = 1 - mine;
    gate_open(&running[mine]);
    gate_wait(&running[other]);
    lazy_status status = lazy_once_cancel(&onces[other], tickets[other]);
    if (status == LAZY_E_DEADLOCK) {
        CHECK_HAS(lazy_last_error()->message, "\"left\"");
        CHECK_HAS(lazy_last_error()->message, "\"right\"");
        CHECK_IS(COUNT(ended), 0);
        ADD(refused, 1);
    } else {
        CHECK_IS(status, LAZY_E_NOT_FOUND);
        CHECK_IS(COUNT(ended), 1);
    }
    return 0;
}
static void drop(void *ctx) {
    (void)ctx;
    ADD(ended, 1);
}

int main(void) {
    for (intptr_t i = 0; i < 2; i++) {
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = cancels_the_other;
        request.ctx = (void *)i;
        request.drop = drop;
        tickets[i] = queue_request(&onces[i], request);
    }
    pthread_t threads[2] = { start(initializes, &onces[0]), start(initializes, &onces[1]) };
    for (int i = 0; i < 2; i++) join(threads[i]);
    CHECK_IS(refused, 1);
    CHECK_IS(ended, 2);
    return finish();
}
