"""The C library: where it is, its structs, its functions."""
import ctypes
import os
from ctypes import POINTER, Structure, c_bool, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Optional

OK, QUEUED, IN_PROGRESS = 0, 1, 2
READY = 4
NO_LIMIT = 2**64 - 1
VERSION = 0 << 16 | 1 << 8 | 0  # the oldest library that has what this package calls
SONAME = "liblazyonce.so.0"
PACKAGE = Path(__file__).resolve().parent


class Site(Structure):
    """lazy_site"""

    _fields_ = [("file", c_char_p), ("line", c_uint32), ("function", c_char_p)]


class Config(Structure):
    """lazy_config"""

    _fields_ = [
        ("size", c_size_t), ("name", c_char_p), ("initialize", c_void_p), ("ctx", c_void_p), ("prepare", c_void_p),
        ("can_init", c_void_p), ("host", c_void_p), ("on_failure", c_uint32), ("on_deferred_failure", c_uint32),
        ("on_fork", c_uint32), ("contended", c_uint32), ("timeout_ns", c_uint64),
    ]


class Request(Structure):
    """lazy_request"""

    _fields_ = [
        ("size", c_size_t), ("fn", c_void_p), ("ctx", c_void_p), ("drop", c_void_p), ("owner", c_void_p), ("key", c_uint64),
        ("phase", c_int32), ("flags", c_uint32), ("site", Site), ("describe", c_void_p),
    ]


class Receipt(Structure):
    """lazy_receipt"""

    _fields_ = [("size", c_size_t), ("ticket", c_uint64), ("outcome", c_uint32)]


class Error(Structure):
    """lazy_error"""

    _fields_ = [
        ("size", c_size_t), ("status", c_int32), ("code", c_int32), ("message", c_char_p), ("once", c_char_p), ("site", Site),
        ("init_site", Site), ("thread", c_uint64), ("owner_thread", c_uint64), ("elapsed_ns", c_uint64), ("ticket", c_uint64),
        ("attempt", c_uint32), ("cause", c_void_p),
    ]


class Info(Structure):
    """lazy_info"""

    _fields_ = [
        ("size", c_size_t), ("name", c_char_p), ("phase", c_uint32), ("attempts", c_uint32), ("generation", c_uint32),
        ("waiters", c_uint32), ("queued", c_uint64), ("owner_thread", c_uint64), ("since_ns", c_uint64), ("init_ns", c_uint64),
        ("running", Site), ("init_site", Site), ("init_pid", c_int64),
    ]


class SlotConfig(Structure):
    """lazy_slot_config"""

    _fields_ = [
        ("size", c_size_t), ("name", c_char_p), ("ctx", c_void_p), ("create", c_void_p), ("destroy", c_void_p),
        ("share", c_void_p), ("host", c_void_p), ("scope", c_uint32), ("on_fork", c_uint32),
    ]


PROTOTYPES = {
    "lazy_default": (c_void_p, []),
    "lazy_fail_status": (c_int32, [c_int32, c_int32, c_char_p]),
    "lazy_host_cpython": (c_void_p, []),
    "lazy_last_error": (POINTER(Error), []),
    "lazy_once_cancel": (c_int32, [c_void_p, c_uint64]),
    "lazy_once_cancel_owner_slow": (c_size_t, [c_void_p, c_void_p, POINTER(Site)]),
    "lazy_once_close": (c_int32, [c_void_p]),
    "lazy_once_configure": (c_int32, [c_void_p, POINTER(Config)]),
    "lazy_once_info": (c_int32, [c_void_p, POINTER(Info)]),
    "lazy_once_is_initializing": (c_bool, [c_void_p]),
    "lazy_once_named": (c_void_p, [c_char_p]),
    "lazy_once_reset_slow": (c_int32, [c_void_p, POINTER(Site)]),
    "lazy_once_run_slow": (c_int32, [c_void_p, c_void_p, c_void_p, POINTER(c_uint64), POINTER(Site)]),
    "lazy_once_submit": (c_int32, [c_void_p, POINTER(Request), POINTER(Receipt)]),
    "lazy_set_host": (c_int32, [c_void_p]),
    "lazy_slot_configure": (c_int32, [c_void_p, POINTER(SlotConfig)]),
    "lazy_slot_get_slow": (c_int32, [c_void_p, c_uint32, c_void_p, POINTER(Site)]),
    "lazy_slot_retire": (c_int32, [c_void_p]),
    "lazy_version": (c_uint32, []),
}


def path_of_library() -> str:
    """$LAZYONCE_LIBRARY, the file beside the package, or the name that the loader looks for."""
    chosen: Optional[str] = os.environ.get("LAZYONCE_LIBRARY")
    if chosen:
        return chosen
    beside = PACKAGE / "lib" / SONAME
    return str(beside) if beside.exists() else SONAME


def _refuse_subinterpreter() -> None:
    """Default and named onces belong to the process, Python objects to one interpreter: a queued callable of one would run in
    another. Before 3.12 ctypes callbacks hang there besides."""
    current, number = ctypes.pythonapi.PyInterpreterState_Get, ctypes.pythonapi.PyInterpreterState_GetID
    current.restype, number.argtypes, number.restype = c_void_p, [c_void_p], c_int64
    if number(current()) != 0:
        raise ImportError("lazyonce works in the main interpreter only, not in a sub-interpreter")


def _load() -> ctypes.PyDLL:
    """PyDLL, because a call that comes in holding the GIL can be ended by Ctrl-C; the host lets the GIL go while it waits."""
    path = path_of_library()
    try:
        library = ctypes.PyDLL(path)
    except OSError as failure:
        raise ImportError(
            "lazyonce cannot load its library: %s. It looks at $LAZYONCE_LIBRARY, for %s, and where the loader looks."
            % (failure, PACKAGE / "lib" / SONAME)
        ) from failure
    try:
        version = library.lazy_version
        version.restype = c_uint32
        if version() < VERSION:
            raise ImportError("%s is older than this package" % path)
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as failure:
        raise ImportError("%s, which lazyonce found as its library, is another one, or is older: %s" % (path, failure)) from failure
    return library


_refuse_subinterpreter()
LIBRARY = _load()
HOST: Optional[int] = LIBRARY.lazy_host_cpython()
if HOST is None:
    raise ImportError("lazyonce cannot find this interpreter's functions: libpython was loaded with RTLD_LOCAL")
# For the onces that this package does not configure: without a host, a wait would keep the GIL from whoever initializes.
LIBRARY.lazy_set_host(HOST)
