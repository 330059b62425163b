// Guards against an exception out of prepare or can_init that leaves the once behind as if somebody were still inside:
// it reaches the caller, no attempt is counted, and the next call prepares again.
#include "check.h"
#include <atomic>

struct refused { int code; };
static std::atomic<int> prepared{0}, asked{0}, initialized{0}, ran{0};
static bool throws_in_prepare, throws_in_can_init;

static int32_t prepare(void *) {
    ++prepared;
    if (throws_in_prepare) throw refused{21};
    return 0;
}
static int32_t can_init(void *) {
    ++asked;
    if (throws_in_can_init) throw refused{22};
    return 0;
}
static int32_t initialize(void *) { ++initialized; return 0; }
static int32_t count(void *) { ++ran; return 0; }
static const lazy_config config = { sizeof(lazy_config), "throws early", initialize, 0, prepare, can_init, 0, 0, 0, 0, 0,
                                    0 };
static lazy_once once = LAZY_ONCE_WITH(&config);

static void *initializing(void *wanted) {
    int code = 0;
    try {
        lazy_once_init(&once);
    } catch (const refused &error) {
        code = error.code;
    }
    CHECK_IS(code, (intptr_t)wanted);
    CHECK(!lazy_once_is_initializing(&once));
    lazy_info info = LAZY_INFO_INIT;
    CHECK_IS(lazy_once_info(&once, &info), LAZY_OK);
    CHECK_IS(info.phase, wanted ? LAZY_FRESH : LAZY_READY);
    CHECK_IS(info.attempts, wanted ? 0 : 1);
    return nullptr;
}

int main() {
    CHECK_IS(lazy_once_call(&once, count, nullptr), LAZY_QUEUED);
    for (int i = 0; i < 2; i++) {
        throws_in_prepare = true;
        initializing((void *)21); /* twice on this thread, and on others */
        join(start(initializing, (void *)21));
        throws_in_prepare = false;
        throws_in_can_init = true;
        initializing((void *)22);
        join(start(initializing, (void *)22));
        throws_in_can_init = false;
    }
    CHECK_IS(initialized, 0);
    CHECK_IS(lazy_once_call(&once, count, nullptr), LAZY_QUEUED);
    int before = prepared;
    join(start(initializing, nullptr));
    CHECK_IS(prepared, before + 1);
    CHECK_IS(initialized, 1);
    CHECK_IS(ran, 2);
    return finish();
}
