// std::call_once under lazyonce's names, so that one program is compiled against both.
#pragma once

#include <cstdint>
#include <mutex>

using lazy_status = int32_t;
enum : lazy_status { LAZY_OK = 0, LAZY_E_INIT = -3 };
using lazy_fn = int32_t (*)(void *ctx);

using lazy_once = std::once_flag;
#define LAZY_ONCE_INIT {}

static lazy_status lazy_once_run(lazy_once *gate, lazy_fn initialize, void *ctx) {
    std::call_once(*gate, initialize, ctx);
    return LAZY_OK;
}
