// Guards against half a pointer: a `size` that ends inside a field of a configuration, which no compiler makes, leaves that field
// out, as one that the caller does not know. One that ends between two fields of four bytes takes the first.
#include "check.h"
#include <stddef.h>

static int made;
static int32_t create(void *ctx, uint32_t index, void **value) { (void)ctx, (void)index; *value = &made; return made++, 0; }
static int32_t initialize(void *ctx) { return (void)ctx, made++, 0; }

int main(void) {
    for (size_t cut = 0; cut <= 8; cut++) {
        lazy_slot_config slots = { .size = offsetof(lazy_slot_config, create) + cut, .create = create };
        lazy_config config = { .size = offsetof(lazy_config, initialize) + cut, .initialize = initialize };
        lazy_slot slot = { 0, 0, NULL, NULL, NULL };
        lazy_once once = LAZY_ONCE_INIT;
        void *value = NULL;
        made = 0;
        CHECK_IS(lazy_slot_configure(&slot, &slots), LAZY_OK);
        CHECK_IS(lazy_slot_get(&slot, 0, &value), cut < 8 ? LAZY_E_NOT_FOUND : LAZY_OK);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        if (cut > 0) CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
        CHECK_IS(lazy_once_init(&once), LAZY_OK);
        CHECK_IS(made, 2 * (cut == 8));
        CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    for (size_t cut = 0; cut <= 8; cut++) {
        lazy_slot_config slots = { .size = offsetof(lazy_slot_config, scope) + cut, .scope = 9, .on_fork = 9 };
        lazy_slot slot = { 0, 0, NULL, NULL, NULL };
        CHECK_IS(lazy_slot_configure(&slot, &slots), cut < 4 ? LAZY_OK : LAZY_E_INVALID);
        if (cut >= 4) CHECK_HAS(lazy_last_error()->message, "scope");
        slots.scope = LAZY_SLOT_PROCESS;
        CHECK_IS(lazy_slot_configure(&slot, &slots), cut < 8 ? LAZY_OK : LAZY_E_INVALID);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    }
    return finish();
}
