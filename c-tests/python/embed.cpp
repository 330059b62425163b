/* Guards against a once that meets an interpreter which is not there yet, is going away, is gone, or is a new one: it must
   refuse without a crash while there is none, keep what is ready, and start again after a reset. */
#include <Python.h>
#include "check.h"
#include <atomic>

static std::atomic<int> runs;
static PyObject *module_made;
static const lazy_host *python;

static int32_t initialize(void *) {
    ++runs;
    Py_XSETREF(module_made, PyImport_ImportModule("xml.dom.minidom"));
    return module_made ? 0 : 1;
}
static int32_t count(void *counter) {
    ++*static_cast<std::atomic<int> *>(counter);
    return 0;
}
static lazy_config config_of(lazy_fn fn) {
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "embedded";
    config.initialize = fn;
    config.host = python;
    return config;
}
static lazy_status submit_held(lazy_once *once, std::atomic<int> *counter) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = count;
    request.ctx = counter;
    request.flags = LAZY_REQUEST_HOLD_HOST;
    return lazy_once_submit(once, &request, nullptr);
}
static void must_refuse(lazy_once *once) {
    CHECK_IS(lazy_once_init(once), LAZY_E_HOST);
    CHECK_HAS(lazy_last_error()->message, "python");
    CHECK(!lazy_once_is_initialized(once));
}
static void *released(void *once) {
    CHECK_IS(lazy_once_init(static_cast<lazy_once *>(once)), LAZY_OK);
    return nullptr;
}
static void refuse_from_a_thread(lazy_once *once) {
    join(start([](void *arg) -> void * { return must_refuse(static_cast<lazy_once *>(arg)), nullptr; }, once));
}

/* Lives in the interpreter's dictionary, so that it ends after everything else. */
static lazy_once in_teardown;
static std::atomic<int> torn_down;
static void tear_down(PyObject *) {
    must_refuse(&in_teardown);
    ++torn_down;
}
static void end_with_a_late_call() {
    PyObject *late = PyCapsule_New(&in_teardown, nullptr, tear_down);
    CHECK(late && PyDict_SetItemString(PyInterpreterState_GetDict(PyInterpreterState_Get()), "late", late) == 0);
    Py_DECREF(late);
    CHECK_IS(Py_FinalizeEx(), 0);
}

static void without_python(lazy_once *ready, lazy_once *fresh, int lives) {
    std::atomic<int> ran{0};
    CHECK_IS(lazy_once_init(ready), lives ? LAZY_OK : LAZY_E_HOST);
    must_refuse(fresh);
    refuse_from_a_thread(fresh);
    if (lives) {
        CHECK_IS(submit_held(ready, &ran), LAZY_E_HOST);
        CHECK_IS(ran, 0);
        CHECK_IS(lazy_once_call(ready, count, &ran), LAZY_OK);
        CHECK_IS(ran, 1);
    }
}

int main(void) {
    static lazy_once once, fresh, own;
    std::atomic<int> ran{0};
    CHECK((python = lazy_host_cpython()) != nullptr);
    lazy_config config = config_of(initialize), empty = config_of(nullptr);
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    CHECK_IS(lazy_once_configure(&fresh, &empty), LAZY_OK);
    CHECK_IS(lazy_once_configure(&in_teardown, &empty), LAZY_OK);
    CHECK_IS(lazy_once_configure(&own, &empty), LAZY_OK);
    without_python(&once, &fresh, 0);
    for (int life = 1; life <= 3; life++) {
        Py_InitializeEx(0);
        CHECK_IS(lazy_once_reset(&once), LAZY_OK);
        CHECK_IS(lazy_once_call(&once, count, &ran), LAZY_QUEUED);
        if (life % 2) {
            CHECK_IS(lazy_once_init(&once), LAZY_OK);
        } else {
            Py_BEGIN_ALLOW_THREADS
            join(start(released, &once));
            Py_END_ALLOW_THREADS
        }
        CHECK_IS(runs, life);
        CHECK_IS(ran, life);
        CHECK(PyDict_GetItemString(PyImport_GetModuleDict(), "xml.dom.minidom") == module_made);
        Py_CLEAR(module_made);
        end_with_a_late_call();
        CHECK_IS(torn_down, life);
        without_python(&once, &fresh, life);
    }
    CHECK_IS(lazy_once_reset(&once), LAZY_OK); /* needs no host */
    must_refuse(&once);
    return finish();
}
