"""`Once`, and the ones that belong to the whole process."""
import ctypes
import operator
import os
import sys
from types import FrameType
from typing import Callable, Dict, Hashable, NoReturn, Optional, Tuple, Union

from . import _run
from ._errors import E_CLOSED, E_DEFERRED, LazyError, failure_of
from ._keys import Keys
from ._library import HOST, IN_PROGRESS, LIBRARY, NO_LIMIT, OK, READY, Config, Receipt, Request, Site
from ._single import Single

ON_FAILURE = {"share": 0, "retry": 1, "sticky": 2}
# Dropping is done here, on top of "keep": the library would also drop what a KeyboardInterrupt left.
ON_DEFERRED_FAILURE = {"keep": 0, "drop": 0, "continue": 2}
ON_FORK = {"keep": 0, "poison": 1, "reset": 2}
CONTENDED = {"wait": 0, "queue": 1}
KEPT = "it stays at the head of the queue and the next attempt resumes there"
DROPPED = "it was dropped and the next attempt goes on without it"
_storages: Dict[int, object] = {}
"""Of the onces that are ours, by their addresses: until C has let go of one, also where its `__del__` comes to nothing."""


def policy(what: str, value: str, known: Dict[str, int]) -> int:
    """The number of a named choice."""
    try:
        return known[value]
    except (KeyError, TypeError):
        raise ValueError("%s must be one of %s, not %r" % (what, ", ".join(map(repr, known)), value)) from None


def _encoded(name: str) -> bytes:
    if not isinstance(name, str):
        raise TypeError("name must be a str, not %r" % (name,))
    if "\0" in name:
        raise ValueError("name must not contain a NUL, as %r does" % name)
    return name.encode()


def _nanoseconds(timeout: float) -> int:
    if not timeout >= 0:
        raise ValueError("timeout must be a number of seconds, 0 or more, not %r" % timeout)
    return int(min(timeout * 1e9, NO_LIMIT))


Caller = Union[FrameType, Site, None]
"""Where a call comes from; None where that is C, and no frame of Python's is beneath."""


def caller() -> Optional[FrameType]:
    """Who has called what calls this."""
    try:
        return sys._getframe(2)
    except ValueError:
        return None


def site_at(file: str, line: int, function: str) -> Site:
    return Site(os.fsencode(file), line, function.encode(errors="replace"))


def site_of(caller: Caller) -> Site:
    if isinstance(caller, Site):
        return caller
    if caller is None:
        return site_at("C", 0, "a call without a frame of Python's")
    return site_at(caller.f_code.co_filename, caller.f_lineno, caller.f_code.co_name)


class Once(Single):
    """Something expensive that is started at most once, and the calls that wait for it.

    name: stands in messages.
    initialize: starts it. An exception fails the attempt; a later `init` tries again. It is kept alive as long as the once.
    on_failure: what the threads do that waited for a failed attempt: "share" its failure, "retry" by turns, or "sticky": the
        first failure is final, a Ctrl-C included.
    on_deferred_failure: what becomes of a queued call that fails: "keep" it at the head of the queue, "drop" it, or "continue"
        with the others and keep it.
    on_fork: what a forked child finds: "keep" what is initialized, "poison": each call raises ForkedError once an attempt has
        begun, or "reset": a fresh once and its queue.
    contended: what a call does while another thread initializes: "wait", or "queue" for its end.
    timeout: how many seconds a thread waits for another's attempt; None for no limit.

    An exception of a callable comes out of the `call` or `init` that ran it. What is no Exception, such as KeyboardInterrupt and
    SystemExit, comes out as itself, ends the attempt too, and leaves the queued call that it came from in the queue, whatever the policy.

    There is one of it: it cannot be copied or pickled.
    """

    __slots__ = ("_address", "_word", "_storage", "_initializer", "_drops", "_keys", "__weakref__")

    def __init__(
        self, name: str, initialize: Optional[Callable[[], object]] = None, *, on_failure: str = "share",
        on_deferred_failure: str = "keep", on_fork: str = "keep", contended: str = "wait", timeout: Optional[float] = None,
    ) -> None:
        self._refuse_another("_address")
        config = Config(
            ctypes.sizeof(Config), _encoded(name), None, None, None, None, HOST,
            policy("on_failure", on_failure, ON_FAILURE),
            policy("on_deferred_failure", on_deferred_failure, ON_DEFERRED_FAILURE),
            policy("on_fork", on_fork, ON_FORK), policy("contended", contended, CONTENDED),
            0 if timeout is None else max(1, _nanoseconds(timeout)),
        )
        self._storage = (ctypes.c_uint64 * 4)()
        self._open(ctypes.addressof(self._storage))
        _storages[self._address] = self._storage
        self._drops = on_deferred_failure == "drop"
        self._configure(config, initialize)

    def _open(self, address: int) -> None:
        self._address = address
        self._word = ctypes.c_uint32.from_address(address)
        self._initializer: Optional[_run.Runner] = None
        self._drops = False
        self._keys = Keys()

    def _configure(self, config: Config, initialize: Optional[Callable[[], object]]) -> None:
        runner = None
        if initialize is not None:
            if not callable(initialize):
                raise TypeError("initialize must be callable, not %r" % (initialize,))
            runner = _run.Runner(_run.Call(initialize, self._address))
            _run.initializers.add(runner)
            config.initialize, config.ctx = _run.RUN_ADDRESS, id(runner)
        self._enter(LIBRARY.lazy_once_configure, config)
        self._initializer = runner  # not before: where this is refused, C still runs the former one

    def call(self, fn: Callable[[], object], *, key: Hashable = None, phase: int = 0, owner: object = None) -> bool:
        """Runs `fn()` once this is initialized: now, or as soon as it is. True if it ran, False if it is queued.

        key: a later call with an equal key replaces this one while it is queued.
        phase: lower phases run first; within one, first in, first out.
        owner: any object, for `cancel_owner`.

        When this is initialized nothing but `fn` is looked at.
        """
        if self._word.value == READY:
            fn()
            return True
        return self._submit(fn, key, phase, owner, caller())

    def _submit(
        self, fn: Callable[[], object], key: Hashable, phase: int, owner: object, caller: Caller,
        made: Optional[_run.Frames] = None,
    ) -> bool:
        """For that caller. `made` is the traceback of a call that was first registered elsewhere."""
        if not callable(fn):
            raise TypeError("fn must be callable, not %r" % (fn,))
        phase = operator.index(phase)
        if not -(2**31) <= phase < 2**31:
            raise ValueError("phase must be a 32-bit number, not %r" % phase)
        held = None if key is None else self._keys.get(key)
        site = site_of(caller)
        frames = made or _run.frames_from(None if isinstance(caller, Site) else caller)
        runner = _run.Runner(_run.Call(fn, self._address, frames, (site, owner, held), self._drops))
        request = Request(
            ctypes.sizeof(Request), _run.RUN_ADDRESS, id(runner), _run.DROP_ADDRESS, None if owner is None else id(owner),
            0 if held is None else held.number, phase, 0, site,
        )
        receipt = Receipt(ctypes.sizeof(Receipt))
        try:
            _run.alive.add(runner)
            return self._enter(LIBRARY.lazy_once_submit, request, receipt) == OK
        finally:
            if receipt.outcome == 0:
                _run.alive.discard(runner)

    def init(self, timeout: Optional[float] = None) -> bool:
        """Initializes this now, unless that has been done, and runs what was queued.

        timeout: how many seconds to wait for another thread's attempt, in place of the once's own limit; 0 never waits.

        True when it is ready, False when this thread is already inside the attempt.
        """
        if self._word.value == READY:
            return True
        return self._init(timeout, caller())

    def _init(self, timeout: Optional[float], caller: Caller) -> bool:
        """For that caller."""
        limit = None if timeout is None else ctypes.c_uint64(_nanoseconds(timeout))
        return self._enter(LIBRARY.lazy_once_run_slow, None, None, limit, site_of(caller)) == OK

    def is_initialized(self) -> bool:
        """Has the initializer succeeded, and has everything that was queued run?"""
        return self._word.value == READY

    def is_initializing(self) -> bool:
        """Is this thread inside the attempt, in the initializer or in a queued call?"""
        return bool(LIBRARY.lazy_once_is_initializing(self._address))

    def cancel_owner(self, owner: object) -> int:
        """Withdraws every queued call of `owner` and waits until what runs of it is gone; how many were withdrawn. Ctrl-C does
        not end this wait; it is raised afterwards."""
        if owner is None:
            raise ValueError("owner must not be None")
        count: int = self._enter(LIBRARY.lazy_once_cancel_owner_slow, id(owner), site_of(caller()))
        if count == ctypes.c_size_t(-1).value:
            raise self._error()[0]
        return count

    def reset(self) -> None:
        """Makes this fresh again: the next `init` runs the initializer. Waits for another thread's attempt. The queue is kept."""
        if self._enter(LIBRARY.lazy_once_reset_slow, site_of(caller())) == IN_PROGRESS:
            raise LazyError("a once cannot be reset from inside its own attempt")

    def close(self) -> None:
        """Ends this for good: drops the queue and sends its waiters away. A named once and the default cannot be closed."""
        self._enter(LIBRARY.lazy_once_close)
        _run.reports.pop(self._address, None)

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if hasattr(self, "_storage") and not finalizing():
            self.close()
            _storages.pop(self._address, None)

    def _enter(self, function: Callable[..., int], *arguments: object) -> int:
        """Calls the library and raises what comes of it."""
        try:
            return _run.enter(self._raise, function, self._address, *arguments)
        finally:
            if self._keys.gone:
                self._keys.forget()

    def _raise(self, entry: _run.Entry) -> NoReturn:
        """Raises the latest failure of this thread, or the exception that it comes from."""
        failure, ticket = self._error(entry)
        cause = entry.cause(failure.code)
        try:
            if self._drops and failure.status == E_DEFERRED:
                LIBRARY.lazy_once_cancel(self._address, ticket)
            if cause is None:
                raise failure
            if failure.status in (E_DEFERRED, E_CLOSED):
                raise failure from cause
            raise cause
        finally:
            del entry, failure, cause

    def _error(self, entry: Optional[_run.Entry] = None) -> Tuple[LazyError, int]:
        """The library's latest failure on this thread as an exception, and the ticket in it. `entry` is what it failed in."""
        error = LIBRARY.lazy_last_error()[0]
        text = error.message.decode(errors="replace")
        if error.status == E_DEFERRED:
            if self._drops:
                text = text.replace(KEPT, DROPPED)
            frames: _run.Frames = []
            if entry is not None and error.code in entry.failures:
                frames = entry.failures[error.code][1]
            elif _run.reports.get(self._address, (0, 0))[1] == error.code:
                frames = _run.reports[self._address][2]
            if frames:
                text += "\n\nIt was registered here (most recent call last):\n" + "".join(_run.lines_of(frames)).rstrip("\n")
        return failure_of(error.status, error.code, text), error.ticket


def _shared(address: Optional[int]) -> Once:
    if not address:
        raise LazyError(LIBRARY.lazy_last_error()[0].message.decode(errors="replace"))
    once = Once.__new__(Once)
    once._open(address)
    return once


_named: Dict[str, Once] = {}


def named(name: str) -> Once:
    """The once of that name, the same for everybody in the process, C and Python. Whoever configures it in C decides."""
    encoded = _encoded(name)
    once = _named.get(name)
    return once or _named.setdefault(name, _shared(LIBRARY.lazy_once_named(encoded)))


default = _shared(LIBRARY.lazy_default())
