// shared: cpp_slot_plugin.cpp
// Guards against a plugin whose code is called when it is gone, because a static or a handler of the program unloads it while exit() runs:
// be its slots destroyed by dlclose, or by exit() before; by the thread that runs exit() or by another. The values are destroyed, and
// threads that have had some end well.
#include "cpp_slots.hpp"
#include "forked_child.h"
#include <dlfcn.h>

struct counts { int made, destroyed; };
static counts of_plugin;
static int (*use)(counts *);
static void *plugin;
static gate used = GATE_INIT, unloaded = GATE_INIT;

static void *stays(void *) {
    CHECK_IS(use(nullptr), 0);
    gate_open(&used);
    gate_wait(&unloaded);
    return nullptr;
}
static void unloads() {
    Dl_info file;
    void *code = *reinterpret_cast<void **>(&use);
    CHECK(dladdr(code, &file) != 0);
    CHECK_IS(dlclose(plugin), 0);
    CHECK(dladdr(code, &file) == 0);
    CHECK_IS(of_plugin.made, 12);
    CHECK_IS(of_plugin.destroyed, 12);
    gate_open(&unloaded);
}

struct manager {
    ~manager() {
        if (!is_used) return;
        if (is_beside)
            on_a_thread(unloads);
        else if (!is_unloaded)
            unloads();
        join(thread);
        _exit(0);
    }
    pthread_t thread{};
    bool is_used = false, is_beside = false, is_unloaded = false;
};
static manager plugins;

static void loads() {
    plugin = dlopen(getenv("LAZYONCE_TEST_SHARED"), RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin != nullptr);
    *reinterpret_cast<void **>(&use) = dlsym(plugin, "plugin_use");
    plugins.is_used = true;
}
static void uses() {
    CHECK_IS(use(&of_plugin), 0);
    plugins.thread = start(stays, nullptr);
    gate_wait(&used);
}
static void unloads_first() {
    plugins.is_unloaded = true;
    unloads();
}

static void by_a_static() {
    loads();
    uses();
    exit(1); /* destroys its slots before it comes to `plugins` */
}
static void by_another_thread() {
    plugins.is_beside = true;
    by_a_static();
}
/* Its slots are there: the mark that exit() has begun was reached before the handler, or not. */
static void by_a_handler() {
    loads();
    std::atexit(unloads_first);
    uses();
    exit(1);
}
static void by_the_first_handler() {
    loads();
    uses();
    std::atexit(unloads_first);
    exit(1);
}

int main() {
    in_child(by_a_static);
    in_child(by_another_thread);
    in_child(by_a_handler);
    in_child(by_the_first_handler);
    return finish();
}
