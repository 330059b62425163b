// The host lock is the GIL of the CPython that this program was loaded into. No header of Python is needed.
#pragma once

#include <dlfcn.h>
#include "demo.h"

template <class Function>
static Function *python(const char *name) {
    void *const address = dlsym(RTLD_DEFAULT, name);
    CHECK(address);
    return reinterpret_cast<Function *>(address);
}

struct holding {
    const int before = python<int()>("PyGILState_Ensure")();
    ~holding() { python<void(int)>("PyGILState_Release")(before); }
};
static bool is_held() { return python<int()>("PyGILState_Check")(); }
static const lazy_host *host_lock() { return lazy_host_cpython(); }

// Cold imports, until the other thread got the GIL in the middle of one: where it reads a file, or at a bytecode.
static void import_until(flag *taken) {
    const auto run = python<int(const char *)>("PyRun_SimpleString");
    while (!value_of(taken)) CHECK(run("import sys; sys.modules.pop('decimal', 0); import decimal") == 0);
}

// Who wants the GIL wakes after each interval to ask for it; a minute, so that one who never gets it is seen asleep. Called
// as a C function: a bytecode might let the GIL go.
static void ask_rarely() {
    void *const set_interval = python<void *(const char *)>("PySys_GetObject")("setswitchinterval");
    CHECK(python<void *(void *, const char *, ...)>("PyObject_CallFunction")(set_interval, "d", 60.0));
}

static void show_host() {
    const char *const version = python<const char *()>("Py_GetVersion")();
    show("lock: CPython %.*s's GIL", (int)strcspn(version, " "), version);
}
