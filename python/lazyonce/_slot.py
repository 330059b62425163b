"""`Slot`, state of each thread or of the process, and `capture`, which lends a thread's state to others.

The library sees to it that a value of the process is made once, lets the GIL go while others wait for it, and refuses circles of
waits. The values themselves are Python's: those of a thread are in a `threading.local`, so that they end while the thread still has
its interpreter state, before `join` returns. A destructor at the end of the native thread would come after that, beside the end of
the interpreter, which ends a thread that asks for the GIL. Each slot has a `threading.local` of its own, through which the garbage
collector sees a value that refers to its slot.
"""
import atexit
import ctypes
import functools
import operator
import os
import sys
import threading
import weakref
from typing import Any, Callable, Dict, Generic, List, NoReturn, Optional, Set, Tuple, TypeVar

from . import _run
from ._errors import E_NOT_FOUND, DeadlockError, failure_of
from ._library import HOST, LIBRARY, SlotConfig
from ._once import Caller, caller, policy, site_of
from ._single import Single

T = TypeVar("T")
SCOPE = {"thread": 0, "process": 1}
LAST_INDEX = 2**32 - 1
before_capture: List[Callable[[], object]] = []
"""What makes values that a snapshot must not lack."""
_increase = ctypes.pythonapi["Py_IncRef"]
_increase.argtypes, _increase.restype = [ctypes.py_object], None


class Values(Generic[T]):
    """Values of one slot by their indices; in a snapshot those of all slots, by slot and index.

    threads: whose they are, or who has entered the snapshot. None has those of the process.
    """

    __slots__ = ("found", "threads", "__weakref__")

    def __init__(self, *threads: int) -> None:
        self.found: Dict[Any, T] = {}
        self.threads = list(threads)
        _living.add(weakref.ref(self, _living.discard))
        for held in list(_forking.values()):
            held.append(self)


_living: "Set[weakref.ref[Values[Any]]]" = set()
_forking: Dict[int, List[Values[Any]]] = {}
"""What there is, by the threads that are forking: CPython ends what other threads have in a child before it asks anybody."""
_slots: "Set[weakref.ref[Slot[Any]]]" = set()
"""Those of scope "thread"."""


def _all_living() -> List[Values[Any]]:
    return [values for each in list(_living) for values in [each()] if values is not None]


def _hold() -> None:
    held = _forking[threading.get_ident()] = []
    held += _all_living()


def _let_go() -> None:
    _forking.pop(threading.get_ident(), None)


def _keep_those_of_others() -> None:
    """In a child: their threads are gone, and nobody there may end what they had."""
    mine = threading.get_ident()
    for values in _forking.get(mine, []):
        if any(thread != mine for thread in values.threads):
            _increase(values)
    _forking.clear()


os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_keep_those_of_others)


@atexit.register
def _leak() -> None:
    """From here on nobody ends a value: what its destructor needs may go before it."""
    for values in _all_living():
        _increase(values)


class Making:
    """Stands for a factory that runs, in its frame: it goes with that also where an interrupt comes into its `finally`."""

    __slots__ = ("__weakref__",)


class Mine(threading.local):
    """What this thread has and makes. As the context of the process's factories it is what `next` runs: the runner of the
    innermost `get`."""

    runner: Optional[_run.Runner] = None
    __next__ = property(operator.attrgetter("runner.__next__"))

    def __init__(self) -> None:
        self.entered: List[Values[Any]] = []
        self.making: "Dict[Tuple[Slot[Any], int], weakref.ref[Making]]" = {}


_mine = Mine()
_increase(_mine)  # the library may run it when this module has already been cleared


def _fail(entry: _run.Entry) -> NoReturn:
    error = LIBRARY.lazy_last_error()[0]
    failure, cause = failure_of(error.status, error.code, error.message.decode(errors="replace")), entry.cause(error.code)
    try:
        raise failure if cause is None else cause
    finally:
        del entry, failure, cause


class Slot(Single, Generic[T]):
    """State that each thread has, or the process: values by index, each made when it is first asked for, on any thread.

    factory: makes the value at an index: `factory(index)`. Its exception comes out of `get` as itself; nothing is kept, and the
        next `get` tries again.
    scope: "thread": each thread has its own values, until it ends; or "process": all threads share them, and while one makes a
        value, those who want the same wait, and share its failure as LazyError.

    The values end with the slot, too.
    """

    __slots__ = ("_address", "_factory", "_local", "_name", "_storage", "_values", "__weakref__")

    def __init__(self, factory: Callable[[int], T], scope: str = "thread") -> None:
        self._refuse_another("_local")
        if not callable(factory):
            raise TypeError("factory must be callable, not %r" % (factory,))
        self._factory = factory
        self._name = str(getattr(factory, "__qualname__", type(factory).__qualname__))
        self._values: Optional[Values[T]] = None
        number = policy("scope", scope, SCOPE)
        self._local = threading.local()
        self._storage = (ctypes.c_uint64 * 4)()
        self._address = ctypes.addressof(self._storage)
        # The library gives the factory two arguments more, which `next` must not see.
        config = SlotConfig(
            ctypes.sizeof(SlotConfig), self._name.encode(errors="replace"), id(_mine), _run.RUN_ADDRESS, host=HOST, scope=number,
        )
        _run.enter(_fail, LIBRARY.lazy_slot_configure, self._address, config)
        if number == SCOPE["process"]:
            self._values = Values()
        else:
            _slots.add(weakref.ref(self, _slots.discard))

    def get(self, index: int = 0) -> T:
        """This thread's value at `index`, such as a device's number, or the process's; inside a snapshot (`capture`) the one
        captured there. Made now if there is none. A factory that asks for the value that it makes gets DeadlockError."""
        index = operator.index(index)
        if not 0 <= index <= LAST_INDEX:
            raise ValueError("index must be a number from 0 to 2**32 - 1, not %r" % (index,))
        if self._values is None:
            for snapshot in reversed(_mine.entered):
                if (self, index) in snapshot.found:
                    lent: T = snapshot.found[self, index]
                    return lent
        found = (self._values or self._own()).found
        if index not in found:
            self._make(found, index, caller())
        return found[index]

    def _own(self) -> Values[T]:
        """What this thread has."""
        own: Optional[Values[T]] = getattr(self._local, "values", None)
        if own is None:
            own = self._local.values = Values(threading.get_ident())
        return own

    def _make(self, found: Dict[int, T], index: int, caller: Caller) -> None:
        """For that caller, inside the library, which tells of it."""
        outer = _mine.runner
        try:
            _mine.runner = _run.Runner(_run.Call(functools.partial(self._put, found, index), self._address))
            value, site = ctypes.byref(ctypes.c_void_p()), site_of(caller)
            _run.enter(_fail, LIBRARY.lazy_slot_get_slow, self._address, index, value, site)
        finally:
            _mine.runner = outer
        if index not in found:
            self._make_again(found, index)

    def _put(self, found: Dict[int, T], index: int) -> None:
        found[index] = self._factory(index)

    def _make_again(self, found: Dict[int, T], index: int) -> None:
        """Where an interpreter state that this thread had before has made the value, which ended with that: each callback from a thread of
        C's has a state of its own. The library takes it for made."""
        making, place = _mine.making, (self, index)
        running = making.get(place)
        if running is not None and running() is not None:
            raise DeadlockError(
                'thread %d is making the value of slot "%s" at index %d, and its factory asks for that very value'
                % (threading.get_native_id(), self._name, index)
            )
        here = Making()
        try:
            making[place] = weakref.ref(here)
            self._put(found, index)
        finally:
            del here
            making.pop(place, None)

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if hasattr(self, "_address") and not finalizing():
            LIBRARY.lazy_slot_retire(self._address)


class ThreadState(Single):
    """The values that a thread had when it was captured. `with` lays them over the current thread, as often as it likes and on
    many threads at once: there `Slot.get` finds them in place of the thread's own. What has none at some index stays as it is.

    It is laid over the thread, not over a task: what awaits or yields inside lends it to whatever else runs on that thread."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._refuse_another("_values")
        self._values: Values[Any] = Values()
        for each in list(_slots):
            slot = each()
            if slot is not None:
                values = slot._own()
                self._values.found.update({(slot, index): value for index, value in list(values.found.items())})
        for snapshot in _mine.entered:
            self._values.found.update(snapshot.found)

    def __enter__(self) -> "ThreadState":
        self._values.threads.append(threading.get_ident())
        _mine.entered.append(self._values)
        return self

    def __exit__(self, *failure: object) -> None:
        """Leaves it on this thread: its latest enter, also if others have been entered since."""
        entered = _mine.entered
        for place in reversed(range(len(entered))):
            if entered[place] is self._values:
                del entered[place]
                self._values.threads.remove(threading.get_ident())
                return
        raise failure_of(E_NOT_FOUND, 0, "this thread has not entered that state, or has left it as often as it entered")


def capture() -> ThreadState:
    """A snapshot of this thread's values of every Slot of scope "thread", by reference, for the threads that it starts:

        state = lazyonce.capture()

        def work():
            with state:
                slot.get()  # the value of the thread that captured it

    The values live as long as the snapshot, also if their thread ends, and so do their slots.
    """
    for make in before_capture:
        make()
    return ThreadState()
