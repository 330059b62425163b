// std::call_once under lazyonce's names, so that one program is compiled against both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

using lazy_status = int32_t;
enum : lazy_status { LAZY_OK = 0, LAZY_E_INIT = -3, LAZY_E_DEADLOCK = -7 };
using lazy_fn = int32_t (*)(void *ctx);
struct lazy_config {
    size_t size;
    const char *name;
    lazy_fn initialize;
    void *ctx;
};
#define LAZY_CONFIG_INIT {}

struct lazy_once {
    std::once_flag flag;
    lazy_config config;
};
#define LAZY_ONCE_INIT {}

static inline lazy_status lazy_once_configure(lazy_once *gate, const lazy_config *config) {
    gate->config = *config;
    return LAZY_OK;
}
static inline lazy_status lazy_once_run(lazy_once *gate, lazy_fn initialize, void *ctx) {
    std::call_once(gate->flag, initialize, ctx);
    return LAZY_OK;
}
static inline lazy_status lazy_once_init(lazy_once *gate) {
    return lazy_once_run(gate, gate->config.initialize, gate->config.ctx);
}

// It never says why.
struct lazy_error { const char *message; };
static inline const lazy_error *lazy_last_error() { return nullptr; }
