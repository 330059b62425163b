// Guards against a configuration that is lost, half taken, or changed under values that were made with another: before the
// first value the last one counts; afterwards an equal one is LAZY_OK and every difference is LAZY_E_TOO_LATE and changes
// nothing. The struct and the name are copied. What fails does not count as a value, and has counts as nothing.
#include "slots.h"

static int other_context;
static int32_t fails(void *ctx, uint32_t index, void **value) {
    (void)ctx, (void)index, (void)value;
    return lazy_fail(3, "not yet");
}
/* Configures from memory that is gone afterwards. */
static lazy_status configure(lazy_slot *slot, lazy_slot_config config) {
    char name[16];
    lazy_slot_config given = config;
    snprintf(name, sizeof name, "%s", config.name);
    given.name = name;
    lazy_status status = lazy_slot_configure(slot, &given);
    memset(name, 'x', sizeof name);
    memset((void *)&given, 0xa5, sizeof given);
    return status;
}
static void differ(lazy_slot *slot, lazy_slot_config first, lazy_status wanted) {
    static const lazy_host host = LAZY_HOST_INIT;
    lazy_slot_config others[8];
    for (int i = 0; i < 8; i++) others[i] = first;
    others[0].name = "other";
    others[1].ctx = &other_context;
    others[2].create = fails;
    others[3].destroy = NULL;
    others[4].share = share;
    others[5].scope = !first.scope;
    others[6].on_fork = LAZY_FORK_POISON;
    others[7].host = &host;
    for (int i = 0; i < 7; i++) {
        CHECK_IS(configure(slot, others[i]), wanted);
        if (wanted == LAZY_OK) continue;
        CHECK_IS(lazy_last_error()->status, wanted);
        CHECK_HAS(lazy_last_error()->message, "first");
    }
    if (wanted != LAZY_OK) CHECK(configure(slot, others[7]) < 0);
    CHECK_IS(configure(slot, first), LAZY_OK);
}

int main(void) {
    for (uint32_t scope = 0; scope < 2; scope++) {
        lazy_slot_config first = ITEMS("first", scope), failing = first;
        lazy_slot slot = LAZY_SLOT_INIT(NULL);
        failing.create = fails;
        CHECK_IS(configure(&slot, failing), LAZY_OK);
        CHECK(!lazy_slot_has(&slot, 0));
        check_get(&slot, 0, LAZY_E_CALLBACK);
        differ(&slot, first, LAZY_OK);
        item *mine = get_new(&slot, 0);
        differ(&slot, first, LAZY_E_TOO_LATE);
        CHECK(get_present(&slot, 0) == mine);
        CHECK_IS(COUNT(get_new(&slot, 1)->references), 1);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_BALANCE();

        slot = (lazy_slot)LAZY_SLOT_INIT(&first); /* bound: the same rules */
        CHECK_IS(configure(&slot, first), LAZY_OK);
        get_new(&slot, 0);
        differ(&slot, first, LAZY_E_TOO_LATE);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_BALANCE();

        slot = (lazy_slot)LAZY_SLOT_INIT(NULL); /* a value that was set is a value */
        first.create = NULL;
        CHECK_IS(configure(&slot, first), LAZY_OK);
        set_new(&slot, 0);
        differ(&slot, first, LAZY_E_TOO_LATE);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_BALANCE();
    }
    return finish();
}
