// not-under: tsan: the locks of two hosts are taken in both orders, one after the other, as is the case here
// Guards against a circle of onces that is not seen because its waits go through a host: two initializers that need each
// other, over one host and over two. A sleeps with both locks let go; B gets LAZY_E_DEADLOCK with both names, before it lets
// anything go, and finishes, and then A. A cancel that would close such a circle is refused as well.
#include "big_lock.h"
#include "callers.h"

static big_lock lock, other;
static lazy_once a, b;
static big_lock *host_of_a, *host_of_b;
static gate b_owned;
static uint64_t ticket;
static caller a_thread;
static bool cancels;

static void needs(lazy_once *once, big_lock *host, lazy_status wanted) {
    int depth = *big_depth(host), waits = COUNT(lock.waits) + COUNT(other.waits);
    CHECK_IS(lazy_once_init(once), wanted);
    CHECK_DEPTH(host, depth);
    if (wanted == LAZY_OK) return;
    CHECK_HAS(lazy_last_error()->message, "\"a\"");
    CHECK_HAS(lazy_last_error()->message, "\"b\"");
    CHECK_IS(COUNT(lock.waits) + COUNT(other.waits), waits);
}
static int32_t a_needs_b(void *is_it) {
    if (!is_it) return 0;
    int depth = big_let_go(host_of_a); /* over one host both cannot hold it */
    gate_wait(&b_owned);
    big_take_back(host_of_a, depth);
    needs(&b, host_of_a, LAZY_OK);
    return 0;
}
static int32_t initialize_b(void *ctx) {
    (void)ctx;
    int depth = big_let_go(host_of_b);
    gate_open(&b_owned);
    big_until_parked(host_of_a, 1);
    big_until_parked(host_of_b, 1);
    until_waiting(&a_thread);
    big_take_back(host_of_b, depth);
    if (!cancels) {
        needs(&a, host_of_b, LAZY_E_DEADLOCK);
        return 0;
    }
    int waits = COUNT(host_of_b->waits);
    CHECK_IS(lazy_once_cancel(&a, ticket), LAZY_E_DEADLOCK);
    CHECK_IS(lazy_once_cancel_owner(&a, &a), SIZE_MAX);
    CHECK_IS(COUNT(host_of_b->waits), waits);
    CHECK_DEPTH(host_of_b, depth);
    return 0;
}

int main(void) {
    big_begin(&lock, 0, "first");
    big_begin(&other, 1, "second");
    for (int round = 0; round < 4; round++) {
        caller b_thread;
        cancels = round / 2;
        host_of_a = &lock;
        host_of_b = round % 2 ? &other : &lock;
        lazy_config config_a = { .size = sizeof config_a, .name = "a", .initialize = a_needs_b, .host = &host_of_a->host };
        lazy_config config_b = { .size = sizeof config_b, .name = "b", .initialize = initialize_b, .host = &host_of_b->host };
        lazy_request request = LAZY_REQUEST_INIT;
        config_a.ctx = cancels ? NULL : &a;
        request.fn = a_needs_b;
        request.ctx = cancels ? &a : NULL;
        request.owner = &a;
        a = (lazy_once)LAZY_ONCE_WITH(&config_a);
        b = (lazy_once)LAZY_ONCE_WITH(&config_b);
        b_owned = (gate)GATE_INIT;
        ticket = queue_request(&a, request);
        begin(&a_thread, in_init, &a);
        begin(&b_thread, in_init, &b);
        CHECK_IS(ended(&a_thread), LAZY_OK);
        CHECK_IS(ended(&b_thread), LAZY_OK);
        CHECK_IS(lazy_once_close(&a), LAZY_OK);
        CHECK_IS(lazy_once_close(&b), LAZY_OK);
    }
    return finish();
}
