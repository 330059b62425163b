// not-under: valgrind: the values that a fork makes void are left in the child, as documented
// Guards against a value that is handed out in a child and then forgotten without its destructor, because the factory, or a hook of the host,
// forked in a way that runs no handler, which nobody noticed until the next call.
#include "raw_fork.h"

enum { BY_FORK = RAW_WAYS, WAYS };
static int way, forks_now, made, ended;
static pid_t parent, child;

static void fork_here(void) {
    if (!forks_now || getpid() != parent) return;
    forks_now = 0;
    child = way == BY_FORK ? fork() : raw_fork((raw_way)way);
    if (child == 0) alarm(20);
}
static int32_t create(void *ctx, uint32_t index, void **value) {
    (void)ctx, (void)index;
    if (forks_now > 1) fork_here();
    *value = &made;
    made++;
    return 0;
}
static void destroy(void *ctx, uint32_t index, void *value) {
    (void)ctx, (void)index, (void)value;
    ended++;
}
static int32_t attached(void *ctx, void (*body)(void *), void *arg) {
    (void)ctx;
    if (forks_now == 1) fork_here();
    body(arg);
    return 0;
}
static int32_t detached(void *ctx, void (*park)(void *), void (*interrupt)(void *), void *arg) {
    (void)ctx, (void)interrupt;
    park(arg);
    return 0;
}

static void forks_in(int place, uint32_t policy) {
    lazy_host host = { .size = sizeof host, .run_attached = attached, .wait_detached = detached };
    lazy_slot_config config = { .size = sizeof config, .create = create, .destroy = destroy, .host = &host, .on_fork = policy };
    lazy_slot slot = LAZY_SLOT_INIT(&config);
    void *value = NULL;
    made = ended = 0;
    forks_now = place;
    lazy_status status = lazy_slot_get(&slot, 0, &value);
    if (getpid() != parent) {
        int is_void = place == 2 && policy != LAZY_FORK_KEEP; /* it was being made at the fork */
        CHECK_IS(status, is_void ? LAZY_E_FORKED : LAZY_OK);
        int refused = is_void && policy == LAZY_FORK_POISON;
        for (int i = 0; i < 2; i++) CHECK_IS(lazy_slot_get(&slot, 0, &value), refused ? LAZY_E_FORKED : LAZY_OK);
        CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
        CHECK_IS(made, 1 + (is_void && !refused));
        CHECK_IS(ended, made - is_void);
        _exit(0);
    }
    CHECK_IS(status, LAZY_OK);
    CHECK(child > 0);
    check_child(child);
    CHECK_IS(lazy_slot_retire(&slot), LAZY_OK);
    CHECK_IS(made, 1);
    CHECK_IS(ended, 1);
}

int main(void) {
    parent = getpid();
    fflush(NULL);
    for (way = 0; way < WAYS; way++) {
        if (way != BY_FORK && !has_way((raw_way)way)) continue;
        for (uint32_t policy = LAZY_FORK_KEEP; policy <= LAZY_FORK_RESET; policy++) {
            forks_in(1, policy); /* before the factory */
            forks_in(2, policy); /* inside it */
        }
    }
    return finish();
}
