// Guards against a library that writes past an older caller's struct, or takes a newer one for its own: only `size`
// bytes are written, whatever the caller has around them; a size that covers no field, and unknown bytes that ask for
// something, are LAZY_E_INVALID.
#include "callers.h"

static hold start_up = HOLD_INIT;
static const lazy_config config = { .size = sizeof(lazy_config), .name = "sized", .initialize = held, .ctx = &start_up };
static lazy_once once = LAZY_ONCE_WITH(&config);

static void check_size(size_t size, lazy_status wanted) {
    _Alignas(16) unsigned char block[sizeof(lazy_info) + 64];
    lazy_info info;
    memset(block, 0xee, sizeof block);
    memcpy(block, &size, sizeof size);
    /* Read back through memcpy: the struct is the older caller's, who knows no more of it. */
    CHECK_IS(lazy_once_info(&once, (lazy_info *)(void *)block), wanted);
    size_t kept;
    memcpy(&kept, block, sizeof kept);
    CHECK_IS(kept, size);
    for (size_t i = wanted < 0 ? sizeof size : size; i < sizeof block; i++) CHECK_IS(block[i], 0xee);
    if (wanted < 0) return;
    memcpy(&info, block, sizeof info);
    CHECK(!strcmp(info.name, "sized"));
    if (size >= offsetof(lazy_info, attempts)) CHECK_IS(info.phase, LAZY_INITIALIZING);
    if (size >= offsetof(lazy_info, generation)) CHECK_IS(info.attempts, 1);
    if (size >= offsetof(lazy_info, owner_thread)) CHECK_IS(info.queued, 0);
    if (size >= offsetof(lazy_info, since_ns)) CHECK_IS(info.owner_thread, atomic_load(&start_up.thread));
}

int main(void) {
    caller owner;
    lazy_info info = LAZY_INFO_INIT;
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    CHECK_IS(lazy_once_info(NULL, &info), LAZY_E_INVALID);
    CHECK_IS(lazy_last_error()->status, LAZY_E_INVALID);
    CHECK_IS(lazy_once_info(&once, NULL), LAZY_E_INVALID);
    lazy_once later = LAZY_ONCE_INIT;
    later.abi = 0x7fff0001;
    CHECK_IS(lazy_once_info(&later, &info), LAZY_E_INVALID);
    check_size(0, LAZY_E_INVALID);
    check_size(sizeof(size_t), LAZY_E_INVALID);
    check_size(offsetof(lazy_info, phase) - 1, LAZY_E_INVALID);
    for (size_t size = offsetof(lazy_info, phase); size <= sizeof(lazy_info); size += 4) check_size(size, LAZY_OK);

    struct { lazy_info known; uint64_t unknown[2], beyond; } longer;
    memset(&longer, 0, sizeof longer);
    longer.known.size = offsetof(__typeof__(longer), beyond);
    longer.beyond = 42;
    CHECK_IS(lazy_once_info(&once, &longer.known), LAZY_OK);
    CHECK_IS(longer.known.phase, LAZY_INITIALIZING);
    CHECK_IS(longer.known.owner_thread, atomic_load(&start_up.thread));
    CHECK_IS(longer.unknown[0] | longer.unknown[1], 0);
    CHECK_IS(longer.beyond, 42);
    longer.unknown[1] = 1;
    CHECK_IS(lazy_once_info(&once, &longer.known), LAZY_E_INVALID);
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    return finish();
}
