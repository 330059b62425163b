// The initializer throws while a second thread waits for it; then the first thread tries again.
// GATE is lazyonce.h or a gate with the same names.
#include GATE
#include <stdexcept>
#include <string>
#include <thread>
#include "philox.h"

static lazy_once once = LAZY_ONCE_INIT;
static rng_state device_rng;
static flag inside, waiter_id;
static int attempts;

static int32_t start_device(void *) {
    if (++attempts == 1) {
        step("init");
        raise_to(&inside, 1);
        await(&waiter_id, 1);
        await_asleep(value_of(&waiter_id));
        throw std::runtime_error("no device yet");
    }
    device_rng = seeded(0);
    step("init again");
    return 0;
}

int main() {
    check_known_answers();
    lazy_status told = 99;
    std::thread waiter([&] {
        await(&inside, 1);
        raise_to(&waiter_id, thread_id());
        told = lazy_once_run(&once, start_device, nullptr);
    });

    std::string caught;
    try {
        lazy_once_run(&once, start_device, nullptr);
    } catch (const std::runtime_error &error) {
        caught = error.what();
        step("throw");
    }
    CHECK(caught == "no device yet");

    step("retry");
    CHECK(lazy_once_run(&once, start_device, nullptr) == LAZY_OK);
    waiter.join();

    CHECK(attempts == 2 && same(draw(&device_rng), known[0].answer));
    // A waiter shares the failure, or takes its turn: either way it comes back.
    CHECK(told == LAZY_E_INIT || told == LAZY_OK);
    show("exception passed through");
    show("waiter %s", told == LAZY_OK ? "took its turn" : "got the failure");
    show("retry succeeded");
    return done();
}
