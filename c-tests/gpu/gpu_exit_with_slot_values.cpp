// Guards against a process that frees what is on the device when the driver may be gone: at exit(), beside a running kernel and a thread that
// still uses its stream, a static slot leaves its values to the driver, while a local one has ended its own before, also those of that thread.
#include "device.h"
#include <atomic>
#include <lazyonce.hpp>
#include <new>
#include <optional>
#include <thread>

enum { LANES = 32, SPIN_NS = 300000000 };

/* What a child has come to, for its parent. */
struct seen { std::atomic<int> made{0}, destroyed{0}; };
static seen *shared;

struct container {
    explicit container(std::uint32_t device) {
        const std::uint32_t zero = 0;
        CHECK_IS(lazy_cuda_bind_thread(static_cast<std::int32_t>(device)), LAZY_OK);
        CHECK_DRIVER(driver.StreamCreate(&stream, STREAM_NON_BLOCKING));
        counter = allocate(&zero, sizeof zero, stream);
        ++shared->made;
    }
    container(const container &) = delete;
    container &operator=(const container &) = delete;
    ~container() {
        CHECK_IS(lazy_cuda_bind_thread(0), LAZY_OK);
        CHECK_DRIVER(driver.MemFree(counter));
        CHECK_DRIVER(driver.StreamDestroy(stream));
        ++shared->destroyed;
    }
    void count_once() {
        launch_count(counter, LANES, stream);
        CHECK_IS(counted(counter, stream), LANES);
    }

    void *stream = nullptr;
    device_address counter = 0;
};
using containers = lazyonce::slot<container>;

static container make(std::uint32_t device) { return container(device); }
static lazyonce::once cuda;
static containers lasting(make, {LAZY_SLOT_THREAD, nullptr, false, "lasting", LAZY_FORK_KEEP});

static void process() {
    std::optional<containers> local(std::in_place, make);
    gate has_both = GATE_INIT, local_is_gone = GATE_INIT, uses_lasting = GATE_INIT, never = GATE_INIT;
    CHECK_IS(cuda.init(), LAZY_OK);
    std::thread([&] {
        local->get().count_once();
        lasting.get().count_once();
        gate_open(&has_both);
        gate_wait(&local_is_gone);
        launch_spin(SPIN_NS, lasting.get().stream);
        gate_open(&uses_lasting);
        gate_wait(&never);
    }).detach();
    gate_wait(&has_both);
    local->get().count_once();
    lasting.get().count_once();
    CHECK_IS(shared->made, 4);
    local.reset();
    CHECK_IS(shared->destroyed, 2);
    gate_open(&local_is_gone);
    gate_wait(&uses_lasting);
    launch_spin(SPIN_NS, lasting.get().stream);
    exit(0);
}

int main() {
    need_device();
    void *place = mmap(nullptr, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(place != MAP_FAILED);
    shared = new (place) seen;
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    CHECK_IS(cuda.call([] { open_device(nullptr); }), LAZY_QUEUED);
    in_child(process);
    CHECK_IS(shared->made, 4);
    CHECK_IS(shared->destroyed, 2);
    CHECK_IS(cuda.close(), LAZY_OK);
    return finish();
}
