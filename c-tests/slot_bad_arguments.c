// Guards against a crash, or silent success, on bad arguments: NULL, structs of other sizes than ours, to the byte, unknown
// scopes and fork policies in a bound and in a given configuration, memory that is no slot; and against an index that costs
// memory in proportion to it.
#include "page_end.h"
#include "slots.h"

static void check_invalid(lazy_status status) {
    CHECK_IS(status, LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK(strlen(lazy_last_error()->message) > 0);
}
static void check_useless(lazy_slot *slot) {
    void *value = NULL;
    check_invalid(lazy_slot_get(slot, 0, &value));
    CHECK(value == NULL);
    check_invalid(lazy_slot_set(slot, 0, &value));
    CHECK(!lazy_slot_has(slot, 0));
}
static void nulls(void) {
    lazy_slot_config config = ITEMS("nulls", LAZY_SLOT_THREAD);
    lazy_slot slot = LAZY_SLOT_INIT(&config);
    check_useless(NULL);
    check_invalid(lazy_slot_retire(NULL));
    check_invalid(lazy_slot_configure(NULL, &config));
    check_invalid(lazy_slot_get(&slot, 0, NULL));
    CHECK_IS(COUNT(made), 0); /* it would be lost */
    CHECK(!lazy_slot_has(&slot, 0));
    get_new(&slot, 0);
    check_invalid(lazy_slot_get(&slot, 0, NULL));
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
}
static void sizes(void) {
    struct { lazy_slot_config config; unsigned char more[64]; } longer;
    memset(&longer, 0, sizeof longer);
    longer.config = (lazy_slot_config)ITEMS("sized", LAZY_SLOT_THREAD);
    for (size_t size = 0; size <= sizeof longer; size += 8) {
        lazy_slot slot = LAZY_SLOT_INIT(NULL);
        void *value = NULL;
        longer.config.size = size;
        const lazy_slot_config *config = (const lazy_slot_config *)at_page_end(&longer, size < 8 ? 8 : size);
        lazy_status status = lazy_slot_configure(&slot, config);
        if (size < offsetof(lazy_slot_config, ctx)) {
            check_invalid(status);
            continue;
        }
        CHECK_IS(status, LAZY_OK);
        bool has_create = size >= offsetof(lazy_slot_config, destroy), has_destroy = size >= offsetof(lazy_slot_config, share);
        int before = COUNT(destroyed);
        CHECK_IS(lazy_slot_get(&slot, 0, &value), has_create ? LAZY_OK : LAZY_E_NOT_FOUND);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_IS(COUNT(destroyed), before + has_destroy);
    }
    for (size_t at = sizeof longer.config; at < sizeof longer; at++) {
        lazy_slot slot = LAZY_SLOT_INIT(NULL), bound = LAZY_SLOT_INIT(&longer.config);
        ((unsigned char *)&longer)[at] = 1;
        longer.config.size = sizeof longer;
        check_invalid(lazy_slot_configure(&slot, &longer.config));
        check_useless(&bound);
        longer.config.size = at;
        CHECK_IS(lazy_slot_configure(&slot, &longer.config), LAZY_OK);
        ((unsigned char *)&longer)[at] = 0;
    }
}
static void unknown_values(void) {
    for (int i = 0; i < 4; i++) {
        lazy_slot_config config = ITEMS("unknown", LAZY_SLOT_THREAD);
        lazy_slot slot = LAZY_SLOT_INIT(NULL), bound = LAZY_SLOT_INIT(&config);
        *(i % 2 ? &config.scope : &config.on_fork) = i / 2 ? UINT32_MAX : (i % 2 ? 2 : 3);
        check_invalid(lazy_slot_configure(&slot, &config));
        check_useless(&bound);
        config.scope = config.on_fork = 0;
        CHECK_IS(lazy_slot_configure(&slot, &config), LAZY_OK); /* as if nothing had been tried */
        get_new(&slot, 0);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    }
}
static void no_slots(void) {
    static const uint32_t versions[4] = { 0x7fffffff, 0xa5a5a5a5, UINT32_MAX, 77 };
    lazy_slot_config config = ITEMS("none", LAZY_SLOT_THREAD);
    for (int i = 0; i < 4; i++) {
        lazy_slot slot = LAZY_SLOT_INIT(&config);
        slot.abi = versions[i];
        check_useless(&slot);
        check_invalid(lazy_slot_configure(&slot, &config));
        check_invalid(lazy_slot_retire(&slot));
    }
    lazy_slot garbage;
    memset((void *)&garbage, 0xa5, sizeof garbage); /* what else is in it is not followed */
    check_useless(&garbage);
    check_invalid(lazy_slot_configure(&garbage, &config));
    check_invalid(lazy_slot_retire(&garbage));
}
static void far_indices(void) {
    for (uint32_t scope = 0; scope < 2; scope++) {
        lazy_slot_config config = ITEMS("far", scope);
        lazy_slot slot = LAZY_SLOT_INIT(&config);
        item *last = get_new(&slot, UINT32_MAX), *first = get_new(&slot, 0);
        for (int bit = 1; bit < 32; bit++) get_new(&slot, 1u << bit);
        CHECK(get_present(&slot, UINT32_MAX) == last);
        CHECK(get_present(&slot, 0) == first);
        CHECK(!lazy_slot_has(&slot, UINT32_MAX - 1));
        CHECK(!lazy_slot_has(&slot, 1));
        set_new(&slot, UINT32_MAX - 1);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    }
}

int main(void) {
    nulls();
    sizes();
    unknown_values();
    no_slots();
    far_indices();
    return finish();
}
