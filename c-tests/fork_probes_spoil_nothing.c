// Guards against a look that counts as use: asking, configuring, queueing, cancelling and closing another once leave an
// untouched once untouched, so that under LAZY_FORK_POISON a child may still be the first to initialize it.
#include "callers.h"
#include "forked_child.h"

enum { ONCES = 3 };
static atomic_int starts, ran;
static int32_t not_now(void *ctx) {
    (void)ctx;
    return 1;
}
static const lazy_config config = { .size = sizeof(lazy_config), .name = "untouched", .initialize = count, .ctx = &starts, .on_fork = LAZY_FORK_POISON };
static const lazy_config refusing = { .size = sizeof(lazy_config), .name = "not now", .initialize = count, .ctx = &starts,
                                      .can_init = not_now, .on_fork = LAZY_FORK_POISON };
static lazy_once onces[ONCES] = { LAZY_ONCE_WITH(&config), LAZY_ONCE_INIT, LAZY_ONCE_WITH(&refusing) };

static void look(lazy_once *once) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    lazy_permit permit = { { 0 } };
    int null = open("/dev/null", O_WRONLY);
    request.fn = never;
    request.owner = &starts;
    CHECK(!lazy_once_is_initialized(once));
    CHECK(!lazy_once_is_initializing(once));
    CHECK_IS(info_of(once).phase, LAZY_FRESH);
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_QUEUED);
    CHECK_IS(lazy_once_cancel(once, receipt.ticket), LAZY_OK);
    CHECK_IS(lazy_once_submit(once, &request, &receipt), LAZY_QUEUED);
    CHECK_IS(lazy_once_cancel_owner(once, &starts), 1);
    CHECK_IS(lazy_once_cancel(once, receipt.ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_permit_capture(once, &permit), LAZY_E_INVALID);
    CHECK_IS(lazy_permit_enter(&permit), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_dump(null), LAZY_OK);
    close(null);
}
static void *look_at_all(void *ctx) {
    (void)ctx;
    for (int i = 0; i < ONCES; i++) look(&onces[i]);
    return NULL;
}
static void child(void) {
    for (int i = 0; i < 2; i++) {
        CHECK_IS(info_of(&onces[i]).phase, LAZY_FRESH);
        CHECK_IS(lazy_once_init(&onces[i]), LAZY_OK);
    }
    CHECK_IS(lazy_once_init(&onces[2]), LAZY_E_NOT_NOW); /* asked, never begun */
    CHECK_IS(atomic_load(&starts), 2);
    CHECK_IS(atomic_load(&ran), 4);
}
static void grandchild_by_child(void) {
    in_child(child);
    child();
}

int main(void) {
    CHECK_IS(lazy_once_configure(&onces[1], &config), LAZY_OK);
    look_at_all(NULL);
    join(start(look_at_all, NULL));
    CHECK_IS(lazy_once_init(&onces[2]), LAZY_E_NOT_NOW);
    in_child(child);
    in_child(grandchild_by_child);
    child();
    for (int i = 0; i < ONCES; i++) CHECK_IS(lazy_once_close(&onces[i]), LAZY_OK);
    return finish();
}
