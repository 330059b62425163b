// flags: -rdynamic
// Guards against the name `is_initialized`, which many programs have: one in the executable comes first in the search
// order, and a library that binds its own calls to it would take the stranger's answer for the state of the gate.
#define LAZY_NO_SHORT_NAMES
#include "check.h"

static int stranger_asked;
bool is_initialized(void);
bool is_initialized(void) {
    ++stranger_asked;
    return true;
}

static int ran;
static int32_t count(void *ctx) { (void)ctx; return ++ran < 0; }

int main(void) {
    CHECK(!lazy_is_initialized());
    CHECK_IS(lazy_call(count, NULL), LAZY_QUEUED);
    CHECK_IS(ran, 0);
    CHECK(!lazy_is_initialized());
    CHECK_IS(lazy_init(), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK(lazy_is_initialized());
    CHECK_IS(lazy_call(count, NULL), LAZY_OK);
    CHECK_IS(ran, 2);
    CHECK_IS(stranger_asked, 0);
    CHECK(is_initialized());
    CHECK_IS(stranger_asked, 1);
    return finish();
}
