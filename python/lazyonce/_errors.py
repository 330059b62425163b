"""What a failure of the library is called in Python."""
from typing import Dict, Type

E_INIT = -3
E_DEFERRED = -4
E_INVALID = -1
E_NOT_FOUND = -11
E_CLOSED = -12


class LazyError(RuntimeError):
    """A call of the library failed; the text is the library's own."""

    status: int = E_INVALID
    """The status of the C call: one of the LAZY_E_ numbers of lazyonce.h."""

    code: int = 0
    """What the failed callback or initializer returned to C; 0 if none did."""


class InitError(LazyError):
    """The initializer failed, in native code or in another thread. In the thread that ran a Python one, its own exception
    comes out instead."""

    status = E_INIT


class DeferredCallError(LazyError):
    """A queued call failed. `__cause__` is its exception, in the thread that ran it; the text ends with the traceback of where
    the call was registered, if that was in Python."""

    status = E_DEFERRED


class ForkedError(LazyError):
    """This is a forked child, and what the once guards does not survive a fork; the text says who used it in which process."""

    status = -6


class DeadlockError(LazyError):
    """Waiting would never end; the text names every once and thread of the circle. Nobody slept."""

    status = -7


class WaitTimeout(LazyError, TimeoutError):
    """The time limit passed while another thread was initializing."""

    status = -8


class NotNow(LazyError):
    """Not possible at this moment; the once is unchanged. An initializer may raise it too."""

    status = -10


class ClosedError(LazyError):
    """The once is closed."""

    status = E_CLOSED


class BackendUnavailable(LazyError):
    """The machine lacks what the initializer needs. An initializer may raise it."""

    status = -13


BY_STATUS: Dict[int, Type[LazyError]] = {
    each.status: each
    for each in (InitError, DeferredCallError, ForkedError, DeadlockError, WaitTimeout, NotNow, ClosedError, BackendUnavailable)
}


def failure_of(status: int, code: int, text: str) -> LazyError:
    """What a failure of the library is in Python."""
    failure = BY_STATUS.get(status, LazyError)(text)
    failure.status, failure.code = status, code
    return failure
