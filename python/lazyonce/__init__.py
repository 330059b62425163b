"""Starts something expensive once, when it is first needed, and runs what had to wait for it.

    >>> import lazyonce
    >>> gpu = lazyonce.Once("gpu", lambda: print("started"))
    >>> gpu.call(lambda: print("seeded"))
    False
    >>> gpu.init()
    started
    seeded
    True
    >>> gpu.call(lambda: print("seeded again"))
    seeded again
    True

`Once` is a gate of one's own, `named` one that is shared by name with everybody in the process, C included. `lazy_init`,
`lazy_call` and `is_initialized` are the methods of the process default, which belongs to the application.

`Slot` is state that each thread has, or the process, made when it is first asked for; `capture` lends a thread's to others.
"""
import sys

from ._errors import (
    BackendUnavailable, ClosedError, DeadlockError, DeferredCallError, ForkedError, InitError, LazyError, NotNow, WaitTimeout,
)


def _is_for_a_trace() -> bool:
    """Is this `python -m lazyonce trace`? The library is not for that: where traces are read it may be missing, and with LAZYONCE_TRACE
    still set it would begin the trace anew."""
    if sys.argv[:2] != ["-m", "trace"]:
        return False
    command = getattr(sys, "orig_argv", None)
    if command is None:  # Python 3.9
        with open("/proc/self/cmdline") as arguments:
            command = arguments.read().split("\0")
    return any(command[at:at + 3] == ["-m", "lazyonce", "trace"] for at in range(len(command)))


if not _is_for_a_trace():
    from ._once import Once, default as _default, named
    from ._slot import Slot, ThreadState, capture

    lazy_init = _default.init
    lazy_call = _default.call
    is_initialized = _default.is_initialized

__all__ = [
    "BackendUnavailable", "ClosedError", "DeadlockError", "DeferredCallError", "ForkedError", "InitError", "LazyError", "NotNow",
    "Once", "Slot", "ThreadState", "WaitTimeout", "capture", "is_initialized", "lazy_call", "lazy_init", "named",
]
__version__ = "0.1.0"
