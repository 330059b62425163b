// A C++ function-local static under lazyonce's names, so that one program is compiled against both.
#pragma once

#include <cstdint>

using lazy_status = int32_t;
enum : lazy_status { LAZY_OK = 0, LAZY_E_INIT = -3 };
using lazy_fn = int32_t (*)(void *ctx);

struct lazy_once {};
#define LAZY_ONCE_INIT {}

static lazy_status lazy_once_run(lazy_once *, lazy_fn initialize, void *ctx) {
    static const int32_t code = initialize(ctx);
    return code ? LAZY_E_INIT : LAZY_OK;
}
