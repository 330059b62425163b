// flags: -fexceptions
// Guards against a thread that ends, by pthread_exit or cancelled, while it asks a failed request for its description: the
// attempt counts as failed, its waiters go on, the request is released once, and the once works on.
#include "thread_ends.h"
#include "waiters.h"

static lazy_once once;
static ending end;
static atomic_int ran, described, dropped, behind;

static int32_t fails_first(void *ctx) {
    (void)ctx;
    return atomic_fetch_add(&ran, 1) == 0 ? 3 : 0;
}
static void describe(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    snprintf(buffer, capacity, "half a description");
    if (atomic_fetch_add(&described, 1) == 0) end_here(&end);
}
static void drop(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&dropped, 1);
}
static int32_t count(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&behind, 1);
    return 0;
}
static void *drains(void *ctx) {
    (void)ctx;
    lazy_once_init(&once);
    CHECK(!"the thread came back");
    return NULL;
}
static void end_one(way how, uint32_t policy) {
    waiter bystander;
    lazy_config config = { .size = sizeof config, .name = "described", .on_deferred_failure = policy };
    atomic_int *counters[] = { &ran, &described, &dropped, &behind };
    for (int i = 0; i < 4; i++) atomic_store(counters[i], 0);
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    end = ENDING(how);
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = fails_first;
    request.drop = drop;
    request.describe = describe;
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED);
    pthread_t thread = start(drains, NULL);
    gate_wait(&end.inside);
    waiter_start(&bystander, &once, wait_in_init);
    waiter_asleep(&bystander);
    end_thread(&end, thread);
    CHECK_IS(waiter_join(&bystander), LAZY_E_DEFERRED);
    CHECK(atomic_load(&dropped) == 0 || policy == LAZY_DEFERRED_DROP);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&dropped), 1);
    CHECK_IS(atomic_load(&ran), policy == LAZY_DEFERRED_DROP ? 1 : 2);
    CHECK_IS(atomic_load(&behind), 1);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}

int main(void) {
    static const uint32_t policies[] = { LAZY_DEFERRED_KEEP, LAZY_DEFERRED_DROP, LAZY_DEFERRED_CONTINUE };
    for (int how = 0; how < WAYS; how++)
        for (int i = 0; i < 3; i++) end_one((way)how, policies[i]);
    return finish();
}
