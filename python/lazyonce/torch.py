"""Puts the lazy initialization of `torch.cuda`, `torch.xpu`, `torch.mtia`, and of any module of that shape, on a once.

    import lazyonce.torch, torch
    lazyonce.torch.install(torch.cuda)

A module of that shape has the functions `_lazy_call`, `_lazy_init` and `is_initialized`, and keeps `_initialized` and
`_queued_calls`; it may have `_lazy_seed_tracker`, `_is_in_bad_fork`, `_tls` and an error of its own for a queued call that failed.
The once is `lazyonce.named("cuda")`, after the last part of the module's name.

    lazyonce.torch.install_thread_state(torch._inductor.cudagraph_trees)

makes the per-thread state of CUDA graph trees available on threads that were started by hand.

One difference stays: after a queued call has failed, PyTorch's next initialization runs those again that had already run; here
it goes on with the one that failed.
"""
import contextlib
import ctypes
import functools
import itertools
import re
import sys
import threading
from types import FunctionType, ModuleType
from typing import Any, Callable, Dict, List, Optional, Type, Union

from ._errors import DeferredCallError
from ._library import HOST, LIBRARY, Config, Site
from ._once import ON_FAILURE, Caller, caller, named, site_at
from ._run import Frames, frames_from, lines_of
from ._trees import ThreadTrees, exchange

FUNCTIONS = ("_lazy_call", "_lazy_init", "is_initialized")
SEEDS = ("seed_all", "seed")
SEED_KEYS = {kind: object() for kind in SEEDS}  # objects, because all keys of a named once are in one space with everybody's
PUBLISH = object()
TRACKER = ("get_calls", "manual_seed_cb", "queue_seed", "queue_seed_all")
SEED_PHASE, LAST_PHASE = 1000, 2**31 - 1
_installed: Dict[ModuleType, Union["_Installation", ThreadTrees]] = {}


def install(module: ModuleType) -> None:
    """Takes over the module's functions, also where they were imported by value, what is queued and what is initialized.
    A second time does nothing. A module of another shape is a TypeError, and left as it is."""
    require(module, {**dict.fromkeys(FUNCTIONS, FunctionType), "_queued_calls": list, "_initialized": object})
    tracker = vars(module).get("_lazy_seed_tracker", _NoSeeds())
    lacking = [name for name in TRACKER if not isinstance(tracker, _NoSeeds) and not hasattr(tracker, name)]
    if lacking:
        raise TypeError("%s._lazy_seed_tracker has no %s" % (module.__name__, ", ".join(lacking)))
    if module not in _installed:
        _installed[module] = _Installation(module, caller())


def install_thread_state(module: ModuleType) -> None:
    """Lets `get_obj` of `torch._inductor.cudagraph_trees` find what it looks for on any thread: one that was started by hand has
    containers and locks of its own; inside a snapshot (`lazyonce.capture`) it has those of the thread that was captured.
    A second time does nothing. A module of another shape is a TypeError, and left as it is.

    What PyTorch lends to a thread of autograd comes first, as ever. It lends nothing from a thread that was started by hand: for a
    backward pass of such a thread, autograd's device thread has containers of its own.
    """
    require(module, {"get_obj": FunctionType, "local": threading.local})
    if module not in _installed:
        _installed[module] = ThreadTrees(module)


def uninstall(module: ModuleType) -> None:
    """Puts the module's own functions back, with what has not run yet, and the state. It waits for another thread's initialization; from
    inside one it is a LazyError, and everything stays as it is."""
    if module in _installed:
        _installed[module].undo()
        del _installed[module]


def require(module: ModuleType, names: Dict[str, type]) -> None:
    """TypeError unless it is a module that has all of these."""
    if not isinstance(module, ModuleType):
        raise TypeError("this takes a module, such as torch.cuda, not %r" % (module,))
    lacking = [name for name in names if name not in vars(module)]
    if lacking:
        raise TypeError("%s is not a module of that shape: it has no %s" % (module.__name__, ", ".join(lacking)))
    wrong = [name for name, kind in names.items() if not isinstance(vars(module)[name], kind)]
    if wrong:
        kinds = ", ".join("%s, which is no %s" % (name, names[name].__name__) for name in wrong)
        raise TypeError("%s is not a module of that shape: it has %s" % (module.__name__, kinds))


def site_in(stack: List[str], gate: FunctionType) -> Optional[Site]:
    """Where the call was handed in that this traceback was made for, which is not inside the gate; None where no place is told."""
    for entry in reversed(stack):
        place = re.match(r'  File "(.*)", line (\d+), in (.*)', entry)
        if place and (place[1], place[3]) != (gate.__code__.co_filename, gate.__code__.co_name):
            return site_at(place[1], int(place[2]), place[3])
    return None


class _Queued:
    """A call that the module handed in; of a `kind`, "seed" or "seed_all", only the latest counts."""

    def __init__(self, fn: Callable[[], object], kind: Optional[str], stack: Frames, queue: "Dict[_Queued, None]") -> None:
        self.fn = fn
        self.kind = kind
        self.stack = stack
        self.queue = queue
        self.result: object = None

    def __call__(self) -> None:
        self.result = self.fn()
        self.queue.pop(self, None)


class _NoSeeds:
    """Stands in for the module's seed tracker while only its native part runs."""

    def get_calls(self) -> List[object]:
        return []


class _Installation:
    """What stands in for one module's functions."""

    def __init__(self, module: ModuleType, caller: Caller) -> None:
        self.module = module
        self.own: Dict[str, FunctionType] = {name: vars(module)[name] for name in FUNCTIONS}
        self.once = named(module.__name__.rpartition(".")[2])
        self.queue: Dict[_Queued, None] = {}
        self.native_done = False
        self.returns = self.own_code("_lazy_call", _initialized=True, is_initialized=lambda: True)(lambda: self) is self
        self.error = self.deferred_error()
        self.once._configure(Config(ctypes.sizeof(Config), host=HOST, on_failure=ON_FAILURE["retry"]), self.initialize)
        if self.own["is_initialized"]():
            self.once._init(None, caller)
        self.take_over()
        self.undone = False
        self.tls = vars(module).get("_tls")
        if self.tls is not None:
            vars(module)["_tls"] = self.marker()
        self.functions = self.replacements()
        exchange({id(self.own[name]): self.functions[name] for name in FUNCTIONS})

    def take_over(self) -> None:
        """Queues what the module has queued, in its order: plain calls, then seeds. What it keeps when it is initialized has
        run already."""
        if self.own["is_initialized"]():
            return
        calls, tracker = vars(self.module)["_queued_calls"], vars(self.module).get("_lazy_seed_tracker", _NoSeeds())
        while calls:
            self.submit_made(None, *calls.pop(0))
        seeds = [each for each in tracker.get_calls() if each]
        for each in seeds:
            self.submit_made("seed" if each is tracker.manual_seed_cb else "seed_all", *each)
        if seeds:
            tracker.__init__()

    def undo(self) -> None:
        """Hands everything back."""
        self.once.reset()  # this and the next are refused during an attempt; until then nothing else has been touched
        self.once._enter(LIBRARY.lazy_once_configure, None)
        self.undone = True
        exchange({id(self.functions[name]): self.own[name] for name in FUNCTIONS})
        if self.tls is not None:
            vars(self.module)["_tls"] = self.tls
        self.once.cancel_owner(self)
        self.once._initializer = None
        calls, tracker = vars(self.module)["_queued_calls"], vars(self.module).get("_lazy_seed_tracker")
        for queued in self.queue:
            lines = lines_of(queued.stack)
            if queued.kind is None or tracker is None:
                calls.append((queued.fn, lines))
            else:
                getattr(tracker, "queue_" + queued.kind)(queued.fn, lines)

    def submit_made(self, kind: Optional[str], fn: Callable[[], object], stack: List[str]) -> None:
        """Hands a call to the once that the module has queued, for whoever did that."""
        site = site_in(stack, self.own["_lazy_call"]) or self.site("_queued_calls")
        self.submit(_Queued(fn, kind, list(stack), self.queue), site)

    def site(self, what: str) -> Site:
        """For what no line of a program has handed in: this of the module has."""
        return site_at(self.module.__name__, 0, what)

    def submit(self, queued: _Queued, caller: Caller) -> None:
        """Hands it to the once, for that caller, and notes it as long as it has not run."""
        self.queue[queued] = None
        try:
            key = SEED_KEYS[queued.kind] if queued.kind else None
            self.once._submit(queued, key, SEED_PHASE if queued.kind else 0, self, caller, queued.stack)
        except BaseException:
            self.queue.pop(queued, None)
            raise
        if queued.kind is not None:
            for each in itertools.takewhile(lambda each: each is not queued, list(self.queue)):
                if each.kind == queued.kind:
                    self.queue.pop(each, None)

    def marker(self) -> threading.local:
        """For those who look at the module's `_tls.is_initializing`: there on the thread that is inside the queue."""
        installation = self

        class Marker(threading.local):
            @property
            def is_initializing(self) -> bool:
                if installation.native_done and installation.once.is_initializing():
                    return True
                raise AttributeError("is_initializing")

        return Marker()

    def own_code(self, name: str, **values: object) -> Callable[..., object]:
        """The module's function over a copy of its globals, where its lock is none and nothing is queued."""
        values = {
            "_initialized": False, "_queued_calls": [], "_lazy_seed_tracker": _NoSeeds(), "_tls": threading.local(),
            "_initialization_lock": contextlib.nullcontext(), **values,
        }
        function = self.own[name]
        copy = FunctionType(function.__code__, {**vars(self.module), **values}, name, function.__defaults__, function.__closure__)
        copy.__kwdefaults__ = function.__kwdefaults__
        return copy

    def native(self) -> None:
        """Runs the module's own initialization without its queue. Other globals that it sets reach the module."""
        function = self.own_code("_lazy_init", is_initialized=lambda: False)
        before = dict(function.__globals__)
        function()
        kept = {"_initialized", "_queued_calls"}
        changed = {name: value for name, value in function.__globals__.items() if before.get(name, before) is not value}
        vars(self.module).update({name: value for name, value in changed.items() if name not in kept})

    def initialize(self) -> None:
        """The once's initializer."""
        if self.own["is_initialized"]():
            return
        self.native_done = False
        self.native()
        self.native_done = True
        site = self.site("lazyonce.torch.install")
        self.once._submit(self.publish, PUBLISH, LAST_PHASE, self, site, frames_from(sys._getframe()))

    def publish(self) -> None:
        """Tells those who read the module's flag, behind everything that was queued."""
        vars(self.module)["_initialized"] = True

    def bad_fork(self) -> bool:
        """What the module says of this process."""
        asked: Callable[[], bool] = vars(self.module).get("_is_in_bad_fork", bool)
        return asked()

    def deferred_error(self) -> Optional[Type[DeferredCallError]]:
        """The module's own error of a queued call that failed, and ours, in one class."""
        for name, own in vars(self.module).items():
            if re.fullmatch(r"_?Deferred\w*CallError", name) and isinstance(own, type) and issubclass(own, Exception):
                return type(name, (own, DeferredCallError), {"__reduce__": lambda self: (own, self.args)})
        return None

    def replacements(self) -> Dict[str, Callable[..., object]]:
        """The functions that stand in for the module's. Where somebody still has one after `undo`, it is the module's again."""
        once = self.once

        @functools.wraps(self.own["is_initialized"])
        def is_initialized() -> bool:
            if self.undone:
                return bool(self.own["is_initialized"]())
            return once.is_initialized() and not self.bad_fork()

        @functools.wraps(self.own["_lazy_call"])
        def _lazy_call(callable: Callable[[], object], **kwargs: Any) -> object:
            if self.undone:
                return self.own["_lazy_call"](callable, **kwargs)
            if is_initialized():
                result = callable()
                return result if self.returns else None
            kind = next((each for each in SEEDS if kwargs.get(each)), None)
            frame = caller()
            queued = _Queued(callable, kind, frames_from(frame), self.queue)
            if self.bad_fork():
                self.queue[queued] = None  # as in the module, nothing will ever run it
            else:
                self.submit(queued, frame)
            return queued.result if self.returns else None

        @functools.wraps(self.own["_lazy_init"])
        def _lazy_init() -> None:
            if self.undone:
                self.own["_lazy_init"]()
                return
            if is_initialized():
                return
            if self.bad_fork():
                self.native()  # says why not, in the module's words
                return
            try:
                self.take_over()  # what was put there past `_lazy_call`
                once._init(None, caller())
            except DeferredCallError as failure:
                if self.error is None:
                    raise
                error = self.error(str(failure))
                error.status, error.code = failure.status, failure.code
                raise error from failure.__cause__

        return {"_lazy_call": _lazy_call, "_lazy_init": _lazy_init, "is_initialized": is_initialized}
