// Guards against a child that inherits a borrowed right: a worker that forks under a permit is not the initializing
// thread in the child, where that attempt is nobody's. The once is fresh there with its queue, the permit is void, and it
// initializes.
#include "forked_child.h"
#include "waiters.h"

static lazy_permit permit;
static atomic_int attempts;
static waiter stranger;
static lazy_once once;

static void child(void) {
    lazy_info info = LAZY_INFO_INIT;
    CHECK(!lazy_once_is_initializing(&once) && !lazy_once_is_initialized(&once));
    CHECK_IS(lazy_permit_enter(&permit), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(info.phase, LAZY_FRESH);
    CHECK_IS(info.queued, 2);
    CHECK_IS(info.waiters, 0);
    CHECK_IS(lazy_once_call(&once, handed_in, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&attempts), 2);
    CHECK_IS(atomic_load(&handed_in_ran), 3);
    CHECK_IS(lazy_once_call(&once, handed_in, NULL), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}
static void *worker(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_permit_enter(&permit), LAZY_OK);
    CHECK_IS(lazy_once_call(&once, handed_in, NULL), LAZY_QUEUED);
    in_child(child);
    CHECK(lazy_once_is_initializing(&once)); /* here nothing has changed */
    CHECK_IS(lazy_once_init(&once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_permit_leave(&permit), LAZY_OK);
    return NULL;
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    if (atomic_fetch_add(&attempts, 1)) return 0;
    CHECK_IS(lazy_permit_capture(&once, &permit), LAZY_OK);
    waiter_start(&stranger, &once, wait_in_init);
    waiter_asleep(&stranger);
    join(start(worker, NULL));
    return 0;
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "lent", .initialize = initialize };
static lazy_once once = LAZY_ONCE_WITH(&config);

int main(void) {
    CHECK_IS(lazy_once_call(&once, handed_in, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(waiter_join(&stranger), LAZY_OK);
    CHECK_IS(atomic_load(&attempts), 1);
    CHECK_IS(atomic_load(&handed_in_ran), 2);
    return finish();
}
