// Guards against a limit that is lost between std::chrono and the library: zero, less than zero and a little never wait out another
// thread's attempt, the greatest value means no limit, and a limit of this call does not cut what it runs itself.
#include "caught.hpp"

static lazyonce::once once;
static gate inside = GATE_INIT, go = GATE_INIT;
using std::chrono::nanoseconds;

int main() {
    once.call([] {
        gate_open(&inside);
        gate_wait(&go);
    });
    running owner([] { CHECK_IS(once.init(), LAZY_OK); });
    gate_wait(&inside);
    CHECK(!once.init_for(nanoseconds::zero()));
    CHECK(!once.init_for(nanoseconds(-1)));
    CHECK(!once.init_for(nanoseconds::min()));
    CHECK(!once.init_for(std::chrono::milliseconds(2)));
    CHECK_IS(lazy_last_error()->status, LAZY_E_TIMEOUT);
    running patient([] { CHECK(once.init_for(nanoseconds::max())); });
    patient.until_asleep();
    gate_open(&go);
    patient.join();
    owner.join();
    CHECK(once.init_for(nanoseconds::zero()));

    CHECK_IS(once.reset(), LAZY_OK);
    once.call([] { usleep(2000); }); /* longer than the limit */
    CHECK(once.init_for(nanoseconds(1)));
    return finish();
}
