// Guards against an exception that is cleaned up in the innermost attempt only. Thrown three onces deep it reaches the
// outermost caller and fails all three attempts, whose waiters hear so; caught half way up it fails only those below; and
// all of them can be initialized afterwards.
#include "check.h"
#include <atomic>

enum { depth = 3 };
struct refused { int code; };
static lazy_once onces[depth];
static lazy_permit permits[depth];
static std::atomic<int> waiter[depth];
static pthread_t waiters[depth];
static int catches_at = -1;
static bool throws;

static void *waits(void *number) {
    auto which = reinterpret_cast<intptr_t>(number);
    waiter[which] = thread_id();
    lazy_status status = lazy_once_init(&onces[which]);
    if (status != LAZY_E_INIT) return status == LAZY_OK ? &onces : nullptr;
    CHECK_IS(lazy_last_error()->code, 0);
    CHECK_HAS(lazy_last_error()->message, "exception");
    return nullptr;
}
static int32_t initialize(void *number) {
    auto which = reinterpret_cast<intptr_t>(number);
    CHECK_IS(lazy_permit_capture(&onces[which], &permits[which]), LAZY_OK);
    if (throws) {
        waiters[which] = start(waits, number);
        while (!waiter[which]) sched_yield();
        until_asleep(waiter[which]);
    }
    if (which + 1 == depth) {
        if (throws) throw refused{17};
        return 0;
    }
    try {
        CHECK_IS(lazy_once_run(&onces[which + 1], initialize, reinterpret_cast<void *>(which + 1)), LAZY_OK);
    } catch (const refused &error) {
        CHECK_IS(error.code, 17);
        CHECK(!lazy_once_is_initializing(&onces[which + 1]) && lazy_once_is_initializing(&onces[which]));
        if (catches_at != which) throw;
    }
    return 0;
}
static void throw_through(int until) {
    int code = 0;
    throws = true;
    catches_at = until;
    for (int i = 0; i < depth; i++) {
        onces[i] = lazy_once{};
        waiter[i] = 0;
    }
    try {
        CHECK_IS(lazy_once_run(&onces[0], initialize, nullptr), LAZY_OK);
    } catch (const refused &error) {
        code = error.code;
    }
    CHECK_IS(code, until < 0 ? 17 : 0);
    for (int i = 0; i < depth; i++) {
        bool ended_well = i <= until;
        CHECK_IS(join(waiters[i]) != nullptr, ended_well);
        CHECK_IS(lazy_once_is_initialized(&onces[i]), ended_well);
        CHECK_IS(lazy_permit_enter(&permits[i]), LAZY_E_NOT_FOUND);
    }
    throws = false;
    for (intptr_t i = 0; i < depth; i++) {
        CHECK_IS(lazy_once_run(&onces[i], initialize, reinterpret_cast<void *>(i)), LAZY_OK);
        CHECK(lazy_once_is_initialized(&onces[i]));
    }
}

int main() {
    for (int until = -1; until + 1 < depth; until++) throw_through(until);
    return finish();
}
