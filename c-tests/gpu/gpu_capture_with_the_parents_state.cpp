// Guards against workers that cannot use what their parent has made for a capture: in a scope of the parent's captured state a worker finds the
// parent's stream and generator, and captures and replays on it; outside, it makes its own; and the parent goes on where the last one stopped.
#include "device.h"
#include <lazyonce.hpp>
#include <thread>
#include <vector>

enum { WORKERS = 4, REPLAYS = 12, BLOCKS = 64 };

struct container {
    explicit container(std::uint32_t device) {
        philox seeded;
        philox_seed(&seeded, 7);
        const std::vector<std::uint32_t> nothing(4 * BLOCKS);
        CHECK_IS(lazy_cuda_bind_thread(static_cast<std::int32_t>(device)), LAZY_OK);
        CHECK_DRIVER(driver.StreamCreate(&stream, STREAM_NON_BLOCKING));
        state = allocate(&seeded, sizeof seeded, stream);
        out = allocate(nothing.data(), 16 * BLOCKS, stream);
    }
    container(const container &) = delete;
    container &operator=(const container &) = delete;
    ~container() {
        CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK); /* a thread that ends may have lost its context before its values */
        CHECK_DRIVER(driver.MemFree(out));
        CHECK_DRIVER(driver.MemFree(state));
        CHECK_DRIVER(driver.StreamDestroy(stream));
    }
    void draw() {
        launch_fill(out, state, BLOCKS, stream);
        launch_advance(state, BLOCKS, stream);
    }
    void check_drawn(philox &from) {
        std::vector<std::uint32_t> words(4 * BLOCKS);
        copy_out(words.data(), out, 16 * BLOCKS, stream);
        check_blocks(words.data(), &from, BLOCKS);
    }
    void *captured() {
        void *graph = nullptr, *executable = nullptr;
        CHECK_DRIVER(driver.StreamBeginCapture(stream, CAPTURE_THREAD_LOCAL));
        draw();
        CHECK_DRIVER(driver.StreamEndCapture(stream, &graph));
        CHECK_DRIVER(driver.GraphInstantiate(&executable, graph, 0));
        CHECK_DRIVER(driver.GraphDestroy(graph));
        return executable;
    }

    void *stream = nullptr;
    device_address state = 0, out = 0;
};

static lazyonce::once cuda;

/* `from` is where the container's generator stands. */
static void capture_and_replay(container &used, philox &from) {
    void *executable = used.captured();
    for (int replay = 0; replay < REPLAYS; replay++) {
        CHECK_DRIVER(driver.GraphLaunch(executable, used.stream));
        used.check_drawn(from);
    }
    CHECK_DRIVER(driver.GraphExecDestroy(executable));
}

int main() {
    need_device();
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    CHECK_IS(cuda.call([] { open_device(nullptr); }), LAZY_QUEUED);
    CHECK_IS(cuda.init(), LAZY_OK);
    {
        lazyonce::slot<container> containers([](std::uint32_t device) { return container(device); },
                                             {LAZY_SLOT_THREAD, nullptr, true, "containers", LAZY_FORK_KEEP});
        container &parents = containers.get(0);
        philox common;
        philox_seed(&common, 7);
        parents.draw(); /* so that nothing of a kernel is left to load in a capture */
        parents.check_drawn(common);
        for (int worker = 0; worker < WORKERS; worker++) {
            std::thread([&, state = lazyonce::thread_state::capture()] {
                philox own;
                philox_seed(&own, 7);
                CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
                {
                    lazyonce::thread_state::scope in(state);
                    CHECK(&containers.get(0) == &parents);
                    capture_and_replay(parents, common);
                }
                container &mine = containers.get(0);
                CHECK(&mine != &parents);
                capture_and_replay(mine, own);
            }).join();
        }
        parents.draw();
        parents.check_drawn(common);
    }
    CHECK_IS(cuda.close(), LAZY_OK);
    return finish();
}
