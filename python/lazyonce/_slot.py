"""`Slot`, state of each thread or of the process, and `capture`, which lends a thread's state to others.

A thread's value is in a Box, and the library holds the Box's address with a reference of its own. What the library calls must not
run a line of Python, where a pending KeyboardInterrupt would be raised and lost (see `_run`), and destructors come at any time on
any thread. Hence builtins: `next` gives back its second argument when its first is at its end, and a callback's result of type
py_object has a reference more; `format` is the one that picks out its third argument.

The process's values are in a dict of the slot, and the library sees to it that each is made once; a thread's are made before it
is told of them.
"""
import ctypes
import functools
import operator
import sys
import threading
from typing import Callable, Dict, Generic, List, NoReturn, Optional, Set, Tuple, TypeVar

from . import _run
from ._errors import E_NOT_FOUND, DeadlockError, LazyError, failure_of
from ._library import HOST, LIBRARY, OK, SlotConfig
from ._once import policy

T = TypeVar("T")
SCOPE = {"thread": 0, "process": 1}
LAST_INDEX = 2**32 - 1
before_capture: List[Callable[[], object]] = []
"""What makes values that a snapshot must not lack."""
_increase, _decrease = ctypes.pythonapi["Py_IncRef"], ctypes.pythonapi["Py_DecRef"]
for _function in (_increase, _decrease):
    _function.argtypes, _function.restype = [ctypes.py_object], None


class Box:
    """A thread's value. To read `drop` gives up a reference that the library held."""

    __slots__ = ("value",)
    drop = property(_decrease)

    def __init__(self, value: object) -> None:
        self.value = value


class Making(threading.local):
    """What this thread makes. As the context of the process's factories it is what `next` runs: the runner of the innermost `get`."""

    runner: Optional[_run.Runner] = None
    __next__ = property(operator.attrgetter("runner.__next__"))

    def __init__(self) -> None:
        self.own: Set[Tuple[int, int]] = set()


_making, _at_end = Making(), iter(())
_SHARE = ctypes.CFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)(next)
_DESTROY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.py_object)("{2.drop}".format)
for _kept in (_making, _at_end, _SHARE, _DESTROY):
    _increase(_kept)  # the library may use them when this module has already been cleared


def _latest_failure() -> LazyError:
    error = LIBRARY.lazy_last_error()[0]
    return failure_of(error.status, error.code, error.message.decode(errors="replace"))


def _raise(entry: _run.Entry) -> NoReturn:
    failure: BaseException = _latest_failure()
    try:
        raise entry.failures.get(getattr(failure, "code"), failure)
    finally:
        del entry, failure


def _name(factory: Callable[..., object]) -> str:
    return str(getattr(factory, "__qualname__", type(factory).__qualname__))


class Slot(Generic[T]):
    """State that each thread has, or the process: values by index, each made when it is first asked for, on any thread.

    factory: makes the value at an index: `factory(index)`. Its exception comes out of `get` as itself; nothing is kept, and the
        next `get` tries again.
    scope: "thread": each thread has its own values, until it ends; or "process": all threads share them, and while one makes a
        value, those who want the same wait.

    Values are released with the slot, too. A thread's value that refers to its slot keeps it alive as long as the thread.
    """

    __slots__ = ("_address", "_factory", "_storage", "_values", "__weakref__")

    def __init__(self, factory: Callable[[int], T], scope: str = "thread") -> None:
        if not callable(factory):
            raise TypeError("factory must be callable, not %r" % (factory,))
        config = SlotConfig(ctypes.sizeof(SlotConfig), host=HOST, scope=policy("scope", scope, SCOPE))
        config.name = _name(factory).encode(errors="replace")
        self._factory = factory
        self._values: Optional[Dict[int, T]] = None
        if scope == "process":
            self._values = {}
            # Called with two arguments more, which `next` must not see.
            config.create, config.ctx = _run.RUN_ADDRESS, id(_making)
        else:
            config.destroy, config.share = (ctypes.cast(each, ctypes.c_void_p).value for each in (_DESTROY, _SHARE))
            config.ctx = id(_at_end)
        self._storage = (ctypes.c_uint64 * 4)()
        self._address = ctypes.addressof(self._storage)
        if LIBRARY.lazy_slot_configure(self._address, config) < 0:
            raise _latest_failure()

    def get(self, index: int = 0) -> T:
        """This thread's value at `index`, such as a device's number, or the process's; inside a snapshot (`capture`) the one
        captured there. Made now if there is none. A factory that asks for the value that it makes gets DeadlockError."""
        if not 0 <= index <= LAST_INDEX:
            raise ValueError("index must be a number from 0 to 2**32 - 1, not %r" % (index,))
        if self._values is not None:
            return self._of_process(self._values, index)
        found = ctypes.py_object()
        status = LIBRARY.lazy_slot_get(self._address, index, ctypes.byref(found))
        if status == OK:
            value: T = found.value.value
            return value
        if status != E_NOT_FOUND:
            raise _latest_failure()
        return self._make_own(index)

    def _make_own(self, index: int) -> T:
        making, place = _making.own, (self._address, index)
        if place in making:
            raise DeadlockError(
                'thread %d is making the value of slot "%s" at index %d, and its factory asks for that very value'
                % (threading.get_native_id(), _name(self._factory), index)
            )
        making.add(place)
        try:
            value = self._factory(index)
        finally:
            making.discard(place)
        box = Box(value)
        _increase(box)
        try:
            if LIBRARY.lazy_slot_set(self._address, index, id(box)) < 0:
                raise _latest_failure()
        finally:
            if not LIBRARY.lazy_slot_has(self._address, index):
                _decrease(box)
        return value

    def _of_process(self, values: Dict[int, T], index: int) -> T:
        if index not in values:
            make = functools.partial(self._make_for_all, values, index)
            outer, _making.runner = _making.runner, _run.Runner(_run.Call(make, self._address))
            try:
                _run.enter(_raise, LIBRARY.lazy_slot_get, self._address, index, ctypes.byref(ctypes.c_void_p()))
            finally:
                _making.runner = outer
        return values[index]

    def _make_for_all(self, values: Dict[int, T], index: int) -> None:
        values[index] = self._factory(index)

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if hasattr(self, "_address") and not finalizing():
            LIBRARY.lazy_slot_retire(self._address)


class ThreadState:
    """The values that a thread had when it was captured. `with` lays them over the current thread, as often as it likes and on
    many threads at once: there `Slot.get` finds them in place of the thread's own. What has none at some index stays as it is."""

    __slots__ = ("_state", "__weakref__")

    def __init__(self) -> None:
        self._state = ctypes.c_void_p()
        if LIBRARY.lazy_thread_state_capture(ctypes.byref(self._state)) < 0:
            raise _latest_failure()

    def __enter__(self) -> "ThreadState":
        if LIBRARY.lazy_thread_state_enter(self._state) < 0:
            raise _latest_failure()
        return self

    def __exit__(self, *failure: object) -> None:
        """Leaves it on this thread, which must have entered it."""
        if LIBRARY.lazy_thread_state_leave(self._state) < 0:
            raise _latest_failure()

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            LIBRARY.lazy_thread_state_free(self._state)


def capture() -> ThreadState:
    """A snapshot of this thread's values of every Slot of scope "thread", by reference, for the threads that it starts:

        state = lazyonce.capture()

        def work():
            with state:
                slot.get()  # the value of the thread that captured it

    The values live as long as the snapshot, also if their thread ends.
    """
    for make in before_capture:
        make()
    return ThreadState()
