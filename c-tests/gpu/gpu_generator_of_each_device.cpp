// Guards against a generator that is made twice, or for the wrong device: a slot of the process has one for each device, made by whichever of
// eight racing threads comes first, and its factory initializes the driver. All threads draw from all of them; no number comes twice.
#include "device.h"
#include <atomic>
#include <lazyonce.hpp>
#include <mutex>
#include <thread>
#include <vector>

enum { THREADS = 8, ROUNDS = 6, BLOCKS = 64, MOST = 64 };
static lazyonce::once cuda;
static std::atomic<int> times_made[MOST];

struct generator {
    explicit generator(std::uint32_t ordinal) : device(static_cast<std::int32_t>(ordinal)) {
        static std::mutex one_at_a_time; /* for `kernels`, of which there is one */
        const std::vector<std::uint32_t> nothing(4 * BLOCKS);
        CHECK_IS(cuda.init(), LAZY_OK);
        CHECK_IS(lazy_cuda_bind_thread(device), LAZY_OK);
        {
            std::lock_guard<std::mutex> lock(one_at_a_time);
            load_kernels();
            fill = kernels.fill;
            advance = kernels.advance;
        }
        philox_seed(&at, 100 + ordinal);
        CHECK_DRIVER(driver.StreamCreate(&stream, STREAM_NON_BLOCKING));
        state = allocate(&at, sizeof at, stream);
        out = allocate(nothing.data(), 16 * BLOCKS, stream);
        ++times_made[ordinal];
    }
    generator(const generator &) = delete;
    generator &operator=(const generator &) = delete;
    ~generator() {
        CHECK_IS(lazy_cuda_bind_thread(device), LAZY_OK);
        CHECK_DRIVER(driver.MemFree(out));
        CHECK_DRIVER(driver.MemFree(state));
        CHECK_DRIVER(driver.StreamDestroy(stream));
    }
    /* The next numbers after those of whoever came before. */
    void check_next() {
        std::lock_guard<std::mutex> lock(drawing);
        std::uint32_t blocks = BLOCKS;
        std::vector<std::uint32_t> words(4 * BLOCKS);
        void *filling[] = {&out, &state, &blocks}, *advancing[] = {&state, &blocks};
        CHECK_IS(lazy_cuda_bind_thread(device), LAZY_OK);
        launch(fill, 1, BLOCKS, stream, filling);
        launch(advance, 1, 1, stream, advancing);
        copy_out(words.data(), out, 16 * BLOCKS, stream);
        check_blocks(words.data(), &at, BLOCKS);
    }

    std::int32_t device;
    std::mutex drawing;
    philox at;
    void *fill = nullptr, *advance = nullptr, *stream = nullptr;
    device_address state = 0, out = 0;
};

int main() {
    need_device();
    CHECK_IS(lazy_cuda_setup(cuda.native_handle(), nullptr), LAZY_OK);
    CHECK_IS(cuda.call([] { find_driver(); }), LAZY_QUEUED);
    {
        lazyonce::slot<generator> generators([](std::uint32_t device) { return generator(device); },
                                             {LAZY_SLOT_PROCESS, nullptr, false, "generators", LAZY_FORK_KEEP});
        std::atomic<int> count{0};
        std::vector<std::thread> threads;
        pthread_barrier_t begin;
        pthread_barrier_init(&begin, nullptr, THREADS);
        for (int thread = 0; thread < THREADS; thread++) {
            threads.emplace_back([&, thread] {
                lazy_cuda_info info = LAZY_CUDA_INFO_INIT;
                pthread_barrier_wait(&begin);
                generators.get(0).check_next();
                CHECK_IS(lazy_cuda_query(&info), LAZY_OK);
                count = info.device_count < MOST ? info.device_count : MOST;
                pthread_barrier_wait(&begin);
                for (int round = 0; round < ROUNDS * count; round++) generators.get((thread + round) % count).check_next();
            });
        }
        for (std::thread &thread : threads) thread.join();
        CHECK(count > 0);
        for (int device = 0; device < count; device++) {
            philox wanted;
            philox_seed(&wanted, 100 + device);
            for (int block = 0; block < THREADS * (ROUNDS + (device == 0)) * BLOCKS; block++) philox_next(&wanted);
            CHECK(!memcmp(&generators.get(device).at, &wanted, sizeof wanted));
            CHECK_IS(times_made[device], 1);
        }
        printf("%d devices\n", count.load());
    }
    CHECK_IS(cuda.close(), LAZY_OK);
    return finish();
}
