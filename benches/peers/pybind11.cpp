// In an interpreter inside the bench, whose lock the main thread keeps; READY is read without it.
#include <pybind11/gil_safe_call_once.h>
#include <pybind11/pybind11.h>
#include "peer.hpp"

using once = pybind11::gil_safe_call_once_and_store<int>;
struct call {
    template <class F> void operator()(once &once, F &&initialize) const {
        once.call_once_and_store_result([&] { return initialize(), 1; }).get_stored();
    }
};
using shown = peer<once, call>;

static void before(uint64_t times) {
    if (!Py_IsInitialized()) {
        PyConfig config;
        PyConfig_InitIsolatedConfig(&config);
        config.install_signal_handlers = config.site_import = 0;
        PyConfig_SetBytesString(&config, &config.home, PYTHON_HOME);
        const PyStatus status = Py_InitializeFromConfig(&config);
        PyConfig_Clear(&config);
        if (PyStatus_Exception(status)) Py_ExitStatusException(status);
    }
    shown::before(times);
}
SHOWN const loop loops[] = {{"pybind11 gil_safe_call_once_and_store", shown::run, before, nullptr}, {}};
SHOWN const gate gates[] = {{}};
