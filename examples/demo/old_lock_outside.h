// The host lock taken outside std::call_once, as TransformerEngine landed it. It has lazyonce's names, so that one program is
// compiled against both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

using lazy_status = int32_t;
enum : lazy_status { LAZY_OK = 0 };
using lazy_fn = int32_t (*)(void *ctx);
struct lazy_host {
    size_t size;
    const char *name;
    void *ctx;
    int32_t (*run_attached)(void *ctx, void (*body)(void *arg), void *arg);
    int32_t (*wait_detached)(void *ctx, void (*park)(void *arg), void (*interrupt)(void *arg), void *arg);
};
struct lazy_config {
    size_t size;
    const char *name;
    lazy_fn initialize;
    void *ctx;
    const lazy_host *host;
};
#define LAZY_CONFIG_INIT {}

// It takes the lock itself.
static inline const lazy_host *lazy_host_cpython() { return nullptr; }
#include HOST

struct lazy_once {
    std::once_flag flag;
    lazy_config config;
};
#define LAZY_ONCE_INIT {}

static inline lazy_status lazy_once_configure(lazy_once *gate, const lazy_config *config) {
    gate->config = *config;
    return LAZY_OK;
}
static inline lazy_status lazy_once_init(lazy_once *gate) {
    const holding lock; // py::gil_scoped_acquire
    std::call_once(gate->flag, gate->config.initialize, gate->config.ctx);
    return LAZY_OK;
}
