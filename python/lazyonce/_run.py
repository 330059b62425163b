"""How a Python callable runs inside the library, and what becomes of its exceptions.

ctypes prints an exception that leaves a callback, drops it, and returns to C whatever lies in memory. So none may leave one:
not even the KeyboardInterrupt of a signal that is pending when the callback begins, which CPython raises before the first line
of a function, out of reach of its `try`. A generator that waits inside a `try` has no such gap. C therefore gets the builtin
`next` as the callback and a Runner as its context.
"""
import ctypes
import dis
import itertools
import os
import threading
import traceback
import weakref
from types import CodeType, FrameType
from typing import Callable, Dict, Iterator, List, NoReturn, Optional, Set, Tuple, Union

from ._errors import E_INIT, BackendUnavailable, NotNow
from ._library import LIBRARY, Info

Frames = List[Union[Tuple[CodeType, int], str]]
"""Code and position of each frame, innermost first; or the lines of a traceback that somebody else has already made."""


class Entry:
    """A call into the library that this thread is inside, and what the callables raised that it ran.

    failures: by the codes that C got, with where those calls were registered.
    failure: the first of them, which is kept even where nothing more can be done.
    is_submit: does it run the one callable that it hands in, and none that are queued?
    """

    __slots__ = ("failures", "failure", "interrupt", "is_submit")

    def __init__(self, is_submit: bool) -> None:
        self.failures: Dict[int, Tuple[BaseException, Frames]] = {}
        self.failure: Optional[BaseException] = None
        self.interrupt: Optional[BaseException] = None
        self.is_submit = is_submit

    def cause(self, code: int) -> Optional[BaseException]:
        """The exception behind a failure of the library with this code."""
        found = self.failures.get(code)
        return self.failure if found is None else found[0]


class Thread(threading.local):
    """What this thread is inside."""

    entry: Optional[Entry] = None


thread = Thread()


def _room(levels: int) -> None:
    """RecursionError here, where it can come out, and not in a callback before the first line that could catch it. A level is one call
    of C and one of Python: their depths are counted together up to 3.11, and apart since."""
    if levels:
        next(map(_room, (levels - 1,)))


def enter(fail: Optional[Callable[[Entry], NoReturn]], function: Callable[..., int], *arguments: object) -> int:
    """Calls the library. An interrupt of a callable comes out; of a failure, what `fail` raises."""
    if fail is not None:
        _room(6)
    outer, entry = thread.entry, Entry(function is LIBRARY.lazy_once_submit)
    thread.entry = entry
    try:
        status = function(*arguments)
    finally:
        thread.entry = outer
    try:
        if entry.interrupt is not None:
            raise entry.interrupt
        if status < 0 and fail is not None:
            fail(entry)
        return status
    finally:
        del entry  # its exceptions hold this frame


reports: Dict[int, Tuple[int, int, Frames]] = {}
"""Of each once, by its address: its latest attempt with a queued call that failed, that call's code, and where it was registered. Of
several the first, which is the one that the library names. For the threads that waited."""
_codes = itertools.count()
UNPRINTABLE = "an exception that cannot be printed"


def _nothing() -> None:
    """What is left of a call that was dropped, until C has heard of it."""


class Call:
    """A callable that was handed in for the once at `address`.

    frames: where it was registered.
    pinned: what lives as long: C has addresses of some of it.
    drops: does it go when it has failed?
    code: what C gets when it fails, so that nothing has to be made up then.
    """

    __slots__ = ("fn", "address", "frames", "pinned", "drops", "code")

    def __init__(
        self, fn: Callable[[], object], address: int, frames: Frames = [], pinned: object = None, drops: bool = False
    ) -> None:
        self.fn = fn
        self.address = address
        self.frames = frames
        self.pinned = pinned
        self.drops = drops
        self.code = next(_codes) % 0x7FFFFFFF + 1

    def report(self, failure: BaseException, entry: Optional[Entry], is_interrupt: bool) -> None:
        """Tells the other threads and the C callers what it was. `entry` has it already, so this may fail at any point, as it does at
        the recursion limit."""
        if entry is not None:
            entry.failures[self.code] = failure, self.frames
        if self.drops and not is_interrupt:
            self.fn = _nothing
        status = failure.status if isinstance(failure, (BackendUnavailable, NotNow)) else E_INIT
        try:
            text = "".join(traceback.format_exception_only(type(failure), failure)).strip()
        except Exception:  # of its own `__notes__`, for one
            text = UNPRINTABLE
        LIBRARY.lazy_fail_status(status, self.code, text.encode(errors="replace"))
        if self.frames and (entry is None or not entry.is_submit):
            info = Info(ctypes.sizeof(Info))
            LIBRARY.lazy_once_info(self.address, info)
            if self.address not in reports or reports[self.address][0] != info.attempts:
                reports[self.address] = info.attempts, self.code, self.frames


def _body(call: Call) -> Iterator[int]:
    """Runs the callable each time it is resumed, and yields what C gets.

    CPython looks for signals at a resume, after a call and at the jump back of a loop: the first two stand inside the inner
    `try`, the jump inside the outer one, and what is caught is only stored there. 3.9 and 3.10 look in more places, also while C
    drops the call, which closes the generator: then the interrupt comes out of the call into the library. (Behind the very last
    line of a generator that 3.9 closes there is nobody to catch it: Python prints it.)

    At the recursion limit no call succeeds, not even the look at what this thread is inside. So what is caught is noted by stores
    alone, and each step that may raise is taken once: what it raises comes here again and finds it done.
    """
    caught: Optional[BaseException] = None
    first: Optional[BaseException] = None
    interrupt: Optional[BaseException] = None
    entry: Optional[Entry] = None
    code = step = 0
    running = closing = False
    while True:
        try:
            while True:
                running = False
                try:
                    if caught is not None:
                        code = call.code
                        if first is None:
                            first = caught
                        if step == 0:
                            step = 1
                            if entry is None:
                                entry = thread.entry
                        if entry is not None:
                            if entry.failure is None:
                                entry.failure = first
                            if entry.interrupt is None:
                                entry.interrupt = interrupt
                        if step == 1:
                            step = 2
                            call.report(first, entry, interrupt is not None)
                        caught = first = interrupt = entry = None
                        step = 0
                    yield code
                    running = True
                    entry = thread.entry
                    # An interrupt ends the drain also where the library goes on with the others (LAZY_DEFERRED_CONTINUE).
                    if entry is not None and entry.interrupt is not None:
                        raise entry.interrupt
                    call.fn()
                    code = 0
                    entry = None
                except GeneratorExit as failure:
                    closing = not running
                    if closing:
                        return
                    caught = interrupt = failure
                except Exception as failure:
                    caught = failure
                except BaseException as failure:
                    caught = interrupt = failure
        except BaseException as failure:
            if closing or (not running and failure.__context__.__class__ is GeneratorExit):
                if thread.entry is None:
                    raise
                thread.entry.interrupt = failure
                return
            caught = interrupt = failure


class Runner:
    """What C has as the context of a callable.

    `next(runner)` finds the slot `__next__`, and in it the method of a generator: no line of Python runs before the generator's
    own. The detour serves a forked child, where a generator that another thread was inside is of no more use.
    """

    __slots__ = ("__next__", "call", "__weakref__")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.arm()

    def arm(self) -> None:
        """Gets a new generator and brings it to where it waits."""
        body = _body(self.call)
        enter(None, next, body)  # an interrupt on the way is caught in there, too
        self.__next__ = body.__next__


alive: Set[Runner] = set()
"""What C may still run; its `drop` takes out."""
initializers: "weakref.WeakSet[Runner]" = weakref.WeakSet()
RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.py_object)(next)
DROP = ctypes.CFUNCTYPE(None, ctypes.py_object)(alive.discard)
for _thunk in (RUN, DROP):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_thunk))  # C may call them when this module has already been cleared
RUN_ADDRESS = ctypes.cast(RUN, ctypes.c_void_p).value
DROP_ADDRESS = ctypes.cast(DROP, ctypes.c_void_p).value


def _rearm() -> None:
    for runner in [*alive, *initializers]:
        if runner.__next__.__self__.gi_running:  # type: ignore[attr-defined]
            runner.arm()


os.register_at_fork(after_in_child=_rearm)


def frames_from(frame: Optional[FrameType]) -> Frames:
    """Where we are, innermost first: code and position, which keep no variables alive and cost no look at a file."""
    frames: Frames = []
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return frames


def _line(code: CodeType, position: int) -> int:
    line = code.co_firstlineno
    for start, number in dis.findlinestarts(code):
        if start > position:
            break
        line = number or line
    return line


def lines_of(frames: Frames) -> List[str]:
    """The traceback as `traceback.format_stack` gives it."""
    made = [each for each in frames if isinstance(each, str)]
    codes = [each for each in reversed(frames) if not isinstance(each, str)]
    summaries = [traceback.FrameSummary(code.co_filename, _line(code, at), code.co_name) for code, at in codes]
    return made + traceback.format_list(summaries)
