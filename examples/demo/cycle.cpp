// Three onces whose initializers need each other in a circle, started by three threads at the same time.
// GATE is lazyonce.h or a gate with the same names.
#include GATE
#include <string>
#include <thread>
#include "demo.h"

enum { COUNT = 3 };
static const char *const names[COUNT] = {"gpu", "mem", "log"};
static lazy_once onces[COUNT] = {LAZY_ONCE_INIT, LAZY_ONCE_INIT, LAZY_ONCE_INIT};
static flag inside[COUNT], turn;
static int started[COUNT], refused;

// "thread 12 waits for once "mem"", once for each thread of the circle.
static void show_path(const char *message) {
    int hops = 0, thread, length;
    char name[16];
    for (const char *at = message; (at = strstr(at, "thread ")); at += strlen("thread ")) {
        length = 0;
        if (sscanf(at, "thread %d waits for once \"%15[^\"]\"%n", &thread, name, &length) == 2 && length) {
            show("  thread %d waits for %s", thread, name);
            hops++;
        }
    }
    CHECK(hops == COUNT);
}

static int32_t initialize(void *ctx) {
    const int mine = (int)(intptr_t)ctx, next = (mine + 1) % COUNT;
    raise_to(&inside[mine], 1);
    for (flag &other : inside) await(&other, 1);

    await(&turn, mine);
    step((names[mine] + std::string(" needs ") + names[next]).c_str());
    raise_to(&turn, mine + 1);
    const lazy_status status = lazy_once_init(&onces[next]);
    if (status == LAZY_E_DEADLOCK) {
        // It starts without the other; which thread this is, the scheduler decides.
        __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
        show("one thread: LAZY_E_DEADLOCK");
        show_path(lazy_last_error()->message);
    }
    CHECK(status == LAZY_OK ? started[next] : status == LAZY_E_DEADLOCK);
    started[mine] = 1;
    return 0;
}

int main() {
    std::thread threads[COUNT];
    for (int i = 0; i < COUNT; i++) {
        lazy_config config = LAZY_CONFIG_INIT;
        config.name = names[i];
        config.initialize = initialize;
        config.ctx = (void *)(intptr_t)i;
        CHECK(lazy_once_configure(&onces[i], &config) == LAZY_OK);
    }
    for (int i = 0; i < COUNT; i++)
        threads[i] = std::thread([i] { CHECK(lazy_once_init(&onces[i]) == LAZY_OK); });
    for (std::thread &thread : threads) thread.join();

    CHECK(refused == 1);
    for (int i : started) CHECK(i);
    show("all three are initialized");
    return done();
}
