// Guards against a permit that is entered or left while the thread is ending, before or after the library's own clean-up
// of that thread: it works there, a new thread is a stranger, and a worker that entered so late and is gone does not keep
// a certain circle from being refused.
#include "lent_circle.h"

enum { LEAVES, ENTERS };
static pthread_key_t keys[2]; /* made before the library is used, and after */
static gate ended = GATE_INIT;

static void at_exit(void *work) {
    if (work == &keys[LEAVES]) {
        lazy_status status = lazy_permit_leave(&a_permit);
        CHECK(status == LAZY_OK || status == LAZY_E_NOT_FOUND); /* the end of the thread may have come first */
        CHECK(!lazy_once_is_initializing(&a));
    } else {
        CHECK_IS(lazy_permit_enter(&a_permit), LAZY_OK);
        CHECK(lazy_once_is_initializing(&a));
        CHECK_IS(lazy_once_init(&a), LAZY_IN_PROGRESS);
    }
}
static void *enters_now(void *key) {
    CHECK_IS(lazy_permit_enter(&a_permit), LAZY_OK);
    CHECK_IS(pthread_setspecific(*(pthread_key_t *)key, &keys[LEAVES]), 0);
    return NULL;
}
static void *enters_at_exit(void *key) {
    CHECK(!lazy_once_is_initializing(&a));
    CHECK_IS(pthread_setspecific(*(pthread_key_t *)key, &keys[ENTERS]), 0);
    return NULL;
}
static void *newcomer(void *ctx) {
    (void)ctx;
    CHECK(!lazy_once_is_initializing(&a));
    CHECK_IS(lazy_once_init_timeout(&a, 0), LAZY_E_TIMEOUT);
    return NULL;
}
static void loses_workers(void) {
    for (int i = 0; i < 2; i++) {
        join(start(enters_now, &keys[i]));
        join(start(newcomer, NULL));
        join(start(enters_at_exit, &keys[i]));
        join(start(newcomer, NULL));
    }
    gate_open(&ended);
    CHECK_IS(lazy_once_init(&b), LAZY_OK);
}
static void comes_last(void) {
    gate_wait(&ended);
    sleeps(A);
    CHECK_IS(lazy_once_init(&a), LAZY_E_DEADLOCK);
    atomic_fetch_add(&alarms, 1);
}
static const struct part all[PARTS] = {
    { 1, 0, 0, 0, loses_workers }, { 1, 0, 0, 0, comes_last }, { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 },
};

int main(void) {
    lazy_once first_use = LAZY_ONCE_INIT;
    CHECK_IS(pthread_key_create(&keys[0], at_exit), 0);
    CHECK_IS(lazy_once_run(&first_use, own_initializer, NULL), LAZY_OK);
    CHECK_IS(lazy_once_init_timeout(NULL, 0), LAZY_E_INVALID); /* what the library does at a thread's end is set up now */
    CHECK_IS(pthread_key_create(&keys[1], at_exit), 0);
    CHECK_IS(play_all(all), 1);
    return finish();
}
