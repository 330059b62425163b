// Guards against an exception of a call that runs at once which does not reach its own caller as itself: on an initialized once,
// inside a queued callback, after a wait for another thread, by call and by submit. The once is unharmed.
#include "caught.hpp"

static lazyonce::once once;
static void throws(lazyonce::status (*hand_in)()) { CHECK_IS(caught<refused>(hand_in).number, 17); }
static void fail() { throw refused{17}; }
static lazyonce::status calls() { return once.call(fail); }
static lazyonce::status submits() { return once.submit(fail); }

static void after_a_wait(lazyonce::status (*hand_in)()) {
    auto waits = [hand_in] { throws(hand_in); };
    running<decltype(waits)> *waiter = nullptr;
    once.call([&] {
        waiter = new running(waits);
        waiter->until_asleep();
    });
    CHECK_IS(once.init(), LAZY_OK);
    waiter->join();
    delete waiter;
}

int main() {
    for (auto hand_in : {calls, submits}) {
        once.call([hand_in] {
            throws(hand_in); /* caught here: this callback succeeds */
            CHECK_IS(once.init(), LAZY_IN_PROGRESS);
        });
        after_a_wait(hand_in);
        throws(hand_in);
        CHECK(once.is_initialized());
        CHECK_IS(once.reset(), LAZY_OK);

        bool first = true;
        once.call([&] {
            if (std::exchange(first, false)) hand_in(); /* not caught: this callback fails */
        });
        try {
            once.init();
            CHECK(!"the exception was swallowed");
        } catch (const lazyonce::deferred_error &error) {
            CHECK_IS(caught<refused>([&] { std::rethrow_if_nested(error); }).number, 17);
        }
        CHECK_IS(once.init(), LAZY_OK);
        CHECK_IS(once.reset(), LAZY_OK);
    }
    return finish();
}
