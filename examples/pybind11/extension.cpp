#include <lazyonce.hpp>
#include <lazyonce/python.h>
#include <pybind11/pybind11.h>

static pybind11::handle generator;
static int32_t start(void *) { // holds the GIL; the import may let it go, and nobody waits for this with the GIL held
    generator = pybind11::module_::import("random").attr("Random")().release();
    return 0;
}
static const lazy_config config = {sizeof(lazy_config), "generator", start, 0, 0, 0, lazy_host_python(), 0, 0, 0, 0, 0};
static lazyonce::once once(&config);

static void translate(std::exception_ptr thrown) try {
    if (thrown) std::rethrow_exception(thrown);
} catch (const lazyonce::error &error) { // Ctrl-C while waiting has left its KeyboardInterrupt
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, error.what());
}
PYBIND11_MODULE(extension, module) {
    pybind11::register_local_exception_translator(translate);
    module.def("seed", [](int number) { once.call([number] { generator.attr("seed")(number); }); }); // queued until there is one
    module.def("draw", [] { return once.init(), generator.attr("random")(); });
}
