#include "peer.hpp"
#include <mutex>

struct call {
    template <class F> void operator()(std::once_flag &flag, F &&initialize) const { std::call_once(flag, initialize); }
};
SHOW("std::call_once", std::once_flag, call)
