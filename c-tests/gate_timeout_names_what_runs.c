// Guards against a time-out that leaves the reader without a trace: in every call that waits it names the once, the
// owner's thread, its phase, how long it has been at it, and file and line of the request that runs. What was handed in
// is neither run nor queued nor dropped, and its receipt is left alone.
#include "waiters.h"

enum { LIMIT_NS = 2000000 };
static lazy_once once;
static gate inside[2], finish_it[2];
static atomic_int owner;
static lazy_site here;

static int32_t initialize(void *ctx) {
    (void)ctx;
    atomic_store(&owner, thread_id());
    gate_open(&inside[0]);
    gate_wait(&finish_it[0]);
    return 0;
}
static int32_t slow(void *ctx) {
    (void)ctx;
    gate_open(&inside[1]);
    gate_wait(&finish_it[1]);
    return 0;
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "device", .initialize = initialize,
                                    .timeout_ns = LIMIT_NS };
static lazy_once once = LAZY_ONCE_WITH(&config);

static lazy_status limited(lazy_once *gate) {
    return lazy_once_init_timeout(gate, LIMIT_NS);
}
static lazy_status untouched_receipt(lazy_once *gate) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = { sizeof receipt, 77, 78 };
    request.fn = handed_in;
    request.drop = drop_handed_in;
    lazy_status status = lazy_once_submit(gate, &request, &receipt);
    CHECK(receipt.ticket == 77 && receipt.outcome == 78);
    return status;
}
static lazy_status (*const kinds[])(lazy_once *) = {
    limited, wait_in_init, wait_in_init_at, wait_in_run, wait_in_call, wait_in_submit, untouched_receipt, wait_in_reset,
};
static void all_time_out(const char *phase) {
    char thread[32], place[64];
    lazy_info before = LAZY_INFO_INIT, after = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&once, &before), LAZY_OK);
    snprintf(thread, sizeof thread, "thread %d", atomic_load(&owner));
    snprintf(place, sizeof place, "gate_timeout_names_what_runs.c:%u", here.line);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        CHECK_IS(kinds[i](&once), LAZY_E_TIMEOUT);
        const lazy_error *error = lazy_last_error();
        CHECK_IS(error->status, LAZY_E_TIMEOUT);
        CHECK(!strcmp(error->once, "device"));
        CHECK_IS(error->owner_thread, atomic_load(&owner));
        CHECK_IS(error->attempt, 1);
        CHECK(error->elapsed_ns >= LIMIT_NS);
        CHECK_HAS(error->message, "\"device\"");
        CHECK_HAS(error->message, thread);
        CHECK_HAS(error->message, phase);
        if (phase[0] == 'd') {
            CHECK_HAS(error->message, place);
            CHECK_IS(error->site.line, here.line);
            CHECK(!strcmp(error->site.file, here.file) && !strcmp(error->site.function, here.function));
        }
    }
    CHECK_IS(atomic_load(&handed_in_ran) + atomic_load(&handed_in_dropped), 0);
    CHECK_IS(lazy_once_info(&once, &after), LAZY_OK);
    CHECK_IS(after.queued, before.queued);
    CHECK_IS(after.waiters, 0);
}

int main(void) {
    static waiter first;
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = slow;
    request.site = here = LAZY_HERE;
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
    waiter_start(&first, &once, wait_in_init);
    gate_wait(&inside[0]);
    all_time_out("initializing");
    gate_open(&finish_it[0]);
    gate_wait(&inside[1]);
    all_time_out("draining");
    gate_open(&finish_it[1]);
    CHECK_IS(waiter_join(&first), LAZY_OK);
    return finish();
}
