// Guards against lazy_init() on a default that nobody configured failing, crashing, or forgetting the queue: it runs what
// was queued and is ready, and the three functions of the card agree with lazy_default().
#include "check.h"

static int ran;
static int32_t count(void *ctx) { (void)ctx; return ++ran < 0; }

int main(void) {
    CHECK(lazy_default() != NULL);
    CHECK(lazy_default() == lazy_default());
    CHECK(!is_initialized());
    CHECK_IS(lazy_call(count, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(lazy_default(), count, NULL), LAZY_QUEUED);
    CHECK_IS(ran, 0);
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(ran, 2);
    CHECK(is_initialized());
    CHECK(lazy_is_initialized());
    CHECK(lazy_once_is_initialized(lazy_default()));
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(lazy_call(count, NULL), LAZY_OK);
    CHECK_IS(lazy_once_call(lazy_default(), count, NULL), LAZY_OK);
    CHECK_IS(ran, 4);
    return finish();
}
