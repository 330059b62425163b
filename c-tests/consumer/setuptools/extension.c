#include <Python.h>
#include <lazyonce/python.h>

static int32_t start(void *ctx) {
    (void)ctx;
    PyObject *module = PyImport_ImportModule("decimal");
    Py_XDECREF(module);
    return module == NULL;
}

static PyObject *init(PyObject *self, PyObject *arguments) {
    static lazy_once once = LAZY_ONCE_INIT;
    static lazy_config config = LAZY_CONFIG_INIT;
    (void)self, (void)arguments;
    config.initialize = start;
    config.host = lazy_host_python();
    if (lazy_once_configure(&once, &config) >= 0 && LAZY_INIT(&once) >= 0) Py_RETURN_TRUE;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, lazy_last_error()->message);
    return NULL;
}

static PyMethodDef methods[] = {{"init", init, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "consumer", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_consumer(void) { return PyModule_Create(&definition); }
