// shared: cpp_slot_plugin.cpp
// Guards against a plugin that slots keep loaded, or whose code is called when it is gone: dlclose destroys its static slots, which
// destroys the values of this thread, of one that goes on, of the process and of a snapshot; then that thread ends, the snapshot
// is given up, and the process exits.
#include "cpp_slots.hpp"
#include <dlfcn.h>

struct counts { int made, destroyed; };
static counts of_plugin;
static int (*use)(counts *);
static pthread_barrier_t used, unloaded;

static void *stays(void *state) {
    lazyonce::thread_state::scope in(*static_cast<lazyonce::thread_state *>(state));
    CHECK_IS(use(nullptr), 0);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&unloaded);
    return nullptr;
}

int main() {
    pthread_barrier_init(&used, nullptr, 3);
    pthread_barrier_init(&unloaded, nullptr, 3);
    for (int round = 0; round < 3; round++) {
        of_plugin = {0, 0};
        void *handle = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW | RTLD_LOCAL);
        CHECK(handle != nullptr);
        *reinterpret_cast<void **>(&use) = dlsym(handle, "plugin_use");
        auto nothing = lazyonce::thread_state::capture();
        CHECK_IS(use(&of_plugin), 0);
        auto state = lazyonce::thread_state::capture();
        pthread_t thread = start(stays, &nothing), inside = start(stays, &state);
        pthread_barrier_wait(&used);
        CHECK_IS(of_plugin.made, 12);
        CHECK_IS(of_plugin.destroyed, 0);
        void *code = *reinterpret_cast<void **>(&use);
        Dl_info file;
        CHECK(dladdr(code, &file) != 0);
        CHECK_IS(dlclose(handle), 0);
        CHECK_IS(of_plugin.destroyed, 12);
        CHECK(dladdr(code, &file) == 0); /* it is gone */
        pthread_barrier_wait(&unloaded);
        join(thread);
        join(inside);
    }
    CHECK_IS(of_plugin.destroyed, 12);
    return finish();
}
