// Guards against thread-local state that is gone when a thread's own destructors run: they may still call, wait, own an
// attempt and fail.
#include "check.h"

static pthread_key_t key;
static int initialized, ran, destructor_ran;
static int32_t initialize(void *ctx) { (void)ctx; return ++initialized < 0; }
static int32_t count(void *ctx) { (void)ctx; return ++ran < 0; }
static int32_t fails(void *ctx) { (void)ctx; return lazy_fail(3, "in a destructor"); }
static const lazy_config config = { sizeof(lazy_config), "late", initialize, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static lazy_once once = LAZY_ONCE_WITH(&config), again = LAZY_ONCE_INIT;

static void destructor(void *value) {
    (void)value;
    if (destructor_ran++ < 2) { /* the later rounds come after the library's own thread-local state was destroyed */
        CHECK_IS(pthread_setspecific(key, &key), 0);
        return;
    }
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK(!lazy_once_is_initializing(&once));
    CHECK_IS(lazy_once_call(&once, fails, NULL), LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 3);
    CHECK_IS(lazy_once_call(&again, fails, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&again), LAZY_E_DEFERRED);
}
static void *thread(void *ctx) {
    CHECK_IS(pthread_setspecific(key, &key), 0);
    CHECK_IS(lazy_once_call(&once, count, NULL), LAZY_QUEUED); /* so that the thread has state in the library */
    return ctx;
}

int main(void) {
    CHECK_IS(pthread_key_create(&key, destructor), 0);
    join(start(thread, NULL));
    CHECK_IS(destructor_ran, 3);
    CHECK_IS(initialized, 1);
    CHECK_IS(ran, 2);
    CHECK(lazy_once_is_initialized(&once));
    CHECK(!lazy_once_is_initialized(&again));
    return finish();
}
