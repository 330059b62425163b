// Guards against 64 waiters that line up for 64 slow failures, or that get an error of their own making: all who waited
// in init and run return the one error of the attempt that they waited for, of the initializer or of a queued request,
// with its text, number, sites and ticket; a run's own initializer is not needed; those who waited in call are queued.
#include "callers.h"

enum { WAITERS = 64 };
static hold start_up = HOLD_INIT, request = HOLD_INIT;
static atomic_int ran;
static caller owner, waiters[WAITERS];
static const lazy_config config = { .size = sizeof(lazy_config), .name = "shared", .initialize = held, .ctx = &start_up };
static lazy_once once = LAZY_ONCE_INIT;

static lazy_status initialize_here(void *ctx) {
    (void)ctx;
    return LAZY_INIT(&once);
}
static lazy_status in_counting_call(void *ctx) {
    (void)ctx;
    return lazy_once_call(&once, count, &ran);
}
static void describe(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    snprintf(buffer, capacity, "the seed of the second generator");
}
static void fail_together(hold *culprit, lazy_status wanted, uint32_t attempt, int line, uint64_t ticket) {
    begin(&owner, initialize_here, NULL);
    gate_wait(&culprit->inside);
    for (int i = 0; i < WAITERS; i++)
        begin(&waiters[i], i % 4 == 3 ? in_counting_call : i % 4 == 2 ? in_run : in_init, &once);
    for (int i = 0; i < WAITERS; i++) until_waiting(&waiters[i]);
    gate_open(&culprit->go);
    CHECK_IS(ended(&owner), wanted);
    CHECK_IS(owner.error.attempt, attempt);
    CHECK_IS(owner.error.code, atomic_load(&culprit->code));
    CHECK_IS(owner.error.owner_thread, atomic_load(&owner.id));
    CHECK_IS(owner.error.site.line, line);
    CHECK_IS(owner.error.ticket, ticket);
    CHECK_HAS(owner.error.init_site.file, "gate_waiters_share_one_error.c");
    CHECK(!strcmp(owner.error.init_site.function, "initialize_here"));
    CHECK_HAS(owner.message, "it was held and failed");
    for (int i = 0; i < WAITERS; i++) {
        if (i % 4 == 3) {
            CHECK_IS(ended(&waiters[i]), LAZY_QUEUED);
            continue;
        }
        CHECK_IS(ended(&waiters[i]), wanted);
        const lazy_error *error = &waiters[i].error;
        CHECK(!strcmp(waiters[i].message, owner.message));
        CHECK_IS(error->code, owner.error.code);
        CHECK_IS(error->attempt, attempt);
        CHECK_IS(error->owner_thread, owner.error.owner_thread);
        CHECK_IS(error->elapsed_ns, owner.error.elapsed_ns);
        CHECK_IS(error->site.line, line);
        CHECK_IS(error->ticket, ticket);
        CHECK_IS(error->init_site.line, owner.error.init_site.line);
        CHECK(error->init_site.file == owner.error.init_site.file);
    }
    CHECK_IS(atomic_load(&ran), 0);
    CHECK_IS(info_of(&once).attempts, attempt);
    CHECK_IS(info_of(&once).phase, LAZY_FRESH);
}

int main(void) {
    lazy_request failing = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    failing.fn = held;
    failing.ctx = &request;
    failing.describe = describe;
    failing.site = LAZY_HERE;
    CHECK_IS(lazy_once_submit(&once, &failing, &receipt), LAZY_QUEUED);
    atomic_store(&start_up.code, 41);
    atomic_store(&request.code, 42);
    fail_together(&start_up, LAZY_E_INIT, 1, 0, 0);
    CHECK_IS(atomic_load(&start_up.runs), 1);
    atomic_store(&start_up.code, 0);
    fail_together(&request, LAZY_E_DEFERRED, 2, (int)failing.site.line, receipt.ticket);
    CHECK_HAS(owner.message, "the seed of the second generator");
    CHECK_IS(atomic_load(&start_up.runs), 2);
    CHECK_IS(atomic_load(&request.runs), 1);
    atomic_store(&request.code, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK); /* a new call tries again */
    CHECK_IS(atomic_load(&start_up.runs), 2);
    CHECK_IS(atomic_load(&request.runs), 2);
    CHECK_IS(atomic_load(&ran), 2 * WAITERS / 4);
    return finish();
}
