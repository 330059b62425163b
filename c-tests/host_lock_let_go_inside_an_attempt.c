// Guards against wait_detached of a host whose lock this thread does not hold at that moment: an initializer has let it go,
// as it may, and then waits for a once without a host, one of another host, one of the same, and for a request that it
// cancels. The wait ends when that attempt does, and the lock is found as the initializer left it.
#include "big_lock.h"
#include "callers.h"

static big_lock lock, other;
static lazy_once outer, awaited;
static hold work;
static uint64_t ticket;
static bool cancels;

static int32_t needs_it(void *ctx) {
    (void)ctx;
    int depth = big_let_go(&lock);
    if (cancels)
        CHECK_IS(lazy_once_cancel(&awaited, ticket), LAZY_E_NOT_FOUND);
    else
        CHECK_IS(lazy_once_init(&awaited), LAZY_OK);
    CHECK_DEPTH(&lock, 0);
    CHECK_DEPTH(&other, 0);
    big_take_back(&lock, depth);
    return 0;
}
static int32_t works(void *host) {
    int depth = host ? big_let_go((big_lock *)host) : 0;
    int32_t result = held(&work);
    if (host) big_take_back((big_lock *)host, depth);
    return result;
}

int main(void) {
    big_lock *hosts[] = { NULL, &other, &lock };
    lazy_config outer_config = LAZY_CONFIG_INIT, config = LAZY_CONFIG_INIT;
    big_begin(&lock, 0, "lock");
    big_begin(&other, 1, "other");
    outer_config.initialize = needs_it;
    outer_config.host = &lock.host;
    for (int round = 0; round < 6; round++) {
        big_lock *host = hosts[round / 2];
        caller owner, waiter;
        cancels = round % 2;
        config.host = host ? &host->host : NULL;
        outer = (lazy_once)LAZY_ONCE_WITH(&outer_config);
        awaited = (lazy_once)LAZY_ONCE_WITH(&config);
        work = (hold)HOLD_INIT;
        lazy_request request = LAZY_REQUEST_INIT;
        request.fn = works;
        request.ctx = host;
        ticket = queue_request(&awaited, request);
        begin(&owner, in_init, &awaited);
        gate_wait(&work.inside);
        begin(&waiter, in_init, &outer);
        until_waiting(&waiter);
        big_take(&lock); /* it can be had */
        big_give(&lock);
        gate_open(&work.go);
        CHECK_IS(ended(&owner), LAZY_OK);
        CHECK_IS(ended(&waiter), LAZY_OK);
        CHECK_IS(lazy_once_close(&outer), LAZY_OK);
        CHECK_IS(lazy_once_close(&awaited), LAZY_OK);
    }
    return finish();
}
