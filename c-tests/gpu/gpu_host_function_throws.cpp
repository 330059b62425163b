// Guards against an exception that is lost, or that reaches the driver: what a host function hands in during a drain throws on the thread that
// drains, and init throws it there; what it hands in to a ready once runs at once on the driver's thread, and throws where the host function
// can catch it. The stream and the once go on.
#include "device.h"
#include <exception>
#include <lazyonce.hpp>
#include <memory>
#include <stdexcept>
#include <string>

enum { LANES = 32 };
static lazyonce::once cuda;
static void *stream;
static device_address counter;

struct asks {
    int times = 0, thread = 0;
    lazyonce::status answer = LAZY_E_INIT;
    std::string thrown;
};
static lazyonce::options without_waiting() {
    lazyonce::options how;
    how.flags = LAZY_REQUEST_NO_WAIT;
    return how;
}
/* On a thread of the driver's, which no exception may reach. */
static void hands_in(void *ctx) noexcept {
    auto *a = static_cast<asks *>(ctx);
    a->thread = thread_id();
    auto fuel = std::make_unique<int>(2); /* what only moves can be handed in as well */
    try {
        a->answer = cuda.submit([a, fuel = std::move(fuel)] {
            if (a->times++ < *fuel) throw std::runtime_error("on thread " + std::to_string(thread_id()));
        }, without_waiting());
    } catch (const std::exception &thrown) {
        a->thrown = thrown.what();
    }
}
static void ask(asks &a) {
    CHECK_DRIVER(driver.LaunchHostFunc(stream, hands_in, &a));
    launch_count(counter, LANES, stream);
    CHECK_DRIVER(driver.StreamSynchronize(stream));
}
static std::string nested_in(const std::exception &outer) {
    try {
        std::rethrow_if_nested(outer);
    } catch (const std::runtime_error &inner) {
        return inner.what();
    }
    return "nothing";
}

int main() {
    asks early, ready;
    need_device();
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    CHECK_IS(cuda.call([&] {
        const uint32_t zero = 0;
        open_device(nullptr);
        CHECK_DRIVER(driver.StreamCreate(&stream, STREAM_NON_BLOCKING));
        counter = allocate(&zero, sizeof zero, stream);
        ask(early);
        CHECK_IS(early.answer, LAZY_QUEUED);
        CHECK(early.thread != thread_id());
    }), LAZY_QUEUED);
    const std::string here = "on thread " + std::to_string(thread_id());
    for (int attempt = 1; attempt <= 2; attempt++) {
        std::string thrown;
        try {
            cuda.init();
        } catch (const lazyonce::deferred_error &error) {
            thrown = nested_in(error);
        }
        CHECK_HAS(thrown.c_str(), here.c_str());
        CHECK_IS(early.times, attempt);
        CHECK(!cuda.is_initialized());
    }
    CHECK_IS(cuda.init(), LAZY_OK);
    CHECK_IS(early.times, 3);

    CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
    ask(ready);
    CHECK_HAS(ready.thrown.c_str(), ("on thread " + std::to_string(ready.thread)).c_str());
    CHECK(ready.thread != thread_id());
    ready.times = 2;
    ask(ready);
    CHECK_IS(ready.answer, LAZY_OK);
    CHECK_IS(counted(counter, stream), 3 * LANES);
    CHECK_IS(cuda.close(), LAZY_OK);
    return finish();
}
