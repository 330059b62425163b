#include <absl/base/call_once.h>
#include "peer.hpp"

struct call {
    template <class F> void operator()(absl::once_flag &flag, F &&initialize) const { absl::call_once(flag, initialize); }
};
SHOW("absl::call_once", absl::once_flag, call)
