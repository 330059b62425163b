// Guards against a cancel_owner that returns although a request of the owner still runs: where waiting for it would never end it throws
// LAZY_E_DEADLOCK, and a later one waits it out.
#include "caught.hpp"

static lazyonce::once plugin, backend;
static std::atomic<int> waiter;

int main() {
    lazyonce::options owned;
    owned.owner = &plugin;
    static gate inside = GATE_INIT;
    plugin.submit(
        [] {
            gate_wait(&inside);
            waiter = thread_id();
            CHECK_IS(backend.init(), LAZY_OK);
        },
        owned);
    backend.call([] {
        gate_open(&inside);
        while (!waiter) sched_yield();
        until_asleep(waiter); /* it waits for this very callback */
        throws_status([] { plugin.cancel_owner(&plugin); }, LAZY_E_DEADLOCK);
    });
    running first([] { CHECK_IS(plugin.init(), LAZY_OK); });
    CHECK_IS(backend.init(), LAZY_OK);
    CHECK_IS(plugin.cancel_owner(&plugin), 0);
    first.join();
    return finish();
}
