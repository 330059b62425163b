/* What the programs about slots share: values that know their index, their maker and how many references to them are left, and
   that count what becomes of them. None is ever given back, so one that is destroyed twice is seen. For C11 and C++17. */
#ifndef SLOTS_H
#define SLOTS_H
#include "requests.h"

enum { MOST_ITEMS = 1 << 16 };
typedef struct item { void *ctx; uint32_t index; int maker, destroyer, references; } item;
static item items[MOST_ITEMS];
static int made, copied, destroyed;
static __thread int made_here; /* by factories and others, on this thread */

/* Every value was destroyed, and every copy of one. */
#define CHECK_BALANCE() CHECK_IS(COUNT(destroyed), COUNT(made) + COUNT(copied))

static inline item *new_item(void *ctx, uint32_t index) {
    int number = ADD(made, 1);
    made_here++;
    CHECK(number < MOST_ITEMS);
    SET(items[number].ctx, ctx);
    SET(items[number].index, index);
    SET(items[number].maker, thread_id());
    SET(items[number].references, 1);
    return &items[number];
}
static inline int32_t make(void *ctx, uint32_t index, void **value) {
    *value = new_item(ctx, index);
    return 0;
}
static inline void destroy(void *ctx, uint32_t index, void *value) {
    item *i = (item *)value;
    CHECK(i >= items && i < items + MOST_ITEMS);
    CHECK(ctx == COUNT(i->ctx));
    CHECK_IS(index, COUNT(i->index));
    CHECK(ADD(i->references, -1) > 0);
    SET(i->destroyer, thread_id());
    ADD(destroyed, 1);
}
/* Raises the reference count, as a capture is meant to do. */
static inline void *share(void *ctx, void *value) {
    item *i = (item *)value;
    CHECK(ctx == COUNT(i->ctx));
    CHECK(ADD(i->references, 1) > 0);
    ADD(copied, 1);
    return i;
}
static inline int32_t never_make(void *ctx, uint32_t index, void **value) {
    (void)ctx, (void)index, (void)value;
    CHECK(!"a factory ran that must not run");
    return 0;
}
/* A configuration of these; what is not named is zero. */
#define ITEMS(name, scope) { sizeof(lazy_slot_config), (name), NULL, make, destroy, NULL, NULL, (scope), LAZY_FORK_KEEP }
#define SHARED_ITEMS(name) \
    { sizeof(lazy_slot_config), (name), NULL, make, destroy, share, NULL, LAZY_SLOT_THREAD, LAZY_FORK_KEEP }

static inline item *get(lazy_slot *slot, uint32_t index) {
    void *value = NULL;
    CHECK_IS(lazy_slot_get(slot, index, &value), LAZY_OK);
    CHECK(value != NULL);
    return (item *)value;
}
/* What there is already: no factory runs. */
static inline item *get_present(lazy_slot *slot, uint32_t index) {
    int before = made_here;
    CHECK(lazy_slot_has(slot, index));
    item *present = get(slot, index);
    CHECK_IS(made_here, before);
    return present;
}
/* What this thread makes now. */
static inline item *get_new(lazy_slot *slot, uint32_t index) {
    int before = made_here;
    CHECK(!lazy_slot_has(slot, index));
    item *fresh = get(slot, index);
    CHECK(made_here > before);
    CHECK_IS(COUNT(fresh->maker), thread_id());
    CHECK_IS(COUNT(fresh->index), index);
    CHECK(get_present(slot, index) == fresh);
    return fresh;
}
static inline void check_get(lazy_slot *slot, uint32_t index, lazy_status wanted) {
    void *value = &value;
    CHECK_IS(lazy_slot_get(slot, index, &value), wanted);
    CHECK(value == &value); /* not touched */
    CHECK_IS(lazy_last_error()->status, wanted);
}
static inline void set_new(lazy_slot *slot, uint32_t index) {
    item *fresh = new_item(NULL, index);
    CHECK_IS(lazy_slot_set(slot, index, fresh), LAZY_OK);
    CHECK(get_present(slot, index) == fresh);
}

/* One look-up, in the form in which threads of `callers.h` make calls. */
typedef struct look_up { lazy_slot *slot; uint32_t index; void *value; } look_up;
static inline lazy_status in_get(void *ctx) {
    look_up *l = (look_up *)ctx;
    return lazy_slot_get(l->slot, l->index, &l->value);
}
static inline lazy_status in_retire(void *slot) {
    return lazy_slot_retire((lazy_slot *)slot);
}
#endif
