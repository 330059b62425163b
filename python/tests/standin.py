"""A device module of the shape of torch.cuda, torch.xpu and torch.mtia, without a device: for the tests of lazyonce.torch."""
import itertools
import sys
import types

import lazyonce
import lazyonce.torch

numbers = itertools.count()

SOURCE = '''
import threading
import traceback


class Seeds:
    def __init__(self):
        self.manual_seed_cb = self.manual_seed_all_cb = None
        self.call_order = []
    def queue_seed(self, fn, stack):
        self.manual_seed_cb = (fn, stack)
        self.call_order = [self.manual_seed_all_cb, self.manual_seed_cb]
    def queue_seed_all(self, fn, stack):
        self.manual_seed_all_cb = (fn, stack)
        self.call_order = [self.manual_seed_cb, self.manual_seed_all_cb]
    def get_calls(self):
        return self.call_order

_initialized = False
_queued_calls = []
_tls = threading.local()
_initialization_lock = threading.Lock()
_lazy_seed_tracker = Seeds()
default_generators = ()
bad_fork, compiled, starts, on_start = False, True, [], []

def _is_in_bad_fork():
    return bad_fork

class DeferredStandinCallError(Exception):
    pass

def is_initialized():
    """Says whether it is."""
    return _initialized and not _is_in_bad_fork()

def _lazy_call(callable, **kwargs):
    with _initialization_lock:
        if is_initialized():
            RETURNcallable()
        elif kwargs.get("seed_all", False):
            _lazy_seed_tracker.queue_seed_all(callable, traceback.format_stack())
        elif kwargs.get("seed", False):
            _lazy_seed_tracker.queue_seed(callable, traceback.format_stack())
        else:
            _queued_calls.append((callable, traceback.format_stack()))

def _lazy_init():
    global _initialized, _queued_calls, default_generators
    if is_initialized() or hasattr(_tls, "is_initializing"):
        return
    with _initialization_lock:
        if is_initialized():
            return
        if _is_in_bad_fork():
            raise RuntimeError("Cannot re-initialize the stand-in in forked subprocess")
        if not compiled:
            raise AssertionError("not compiled with the stand-in")
        starts.append(threading.get_ident())
        for fn in on_start:
            fn()
        default_generators = ("generator",)
        _tls.is_initializing = True
        _queued_calls.extend(each for each in _lazy_seed_tracker.get_calls() if each)
        try:
            for fn, stack in _queued_calls:
                try:
                    fn()
                except Exception as failure:
                    raise DeferredStandinCallError(str(failure) + "".join(stack)) from failure
        finally:
            del _tls.is_initializing
        _initialized = True

def init():
    _lazy_init()

def device_count():
    return 1 if _initialized or hasattr(_tls, "is_initializing") else 0
'''


def make(name, returns=False):
    """Such a module, and one that has imported its functions by value."""
    module = types.ModuleType(name)
    exec(compile(SOURCE.replace("RETURN", "return " if returns else ""), name + ".py", "exec"), vars(module))
    random = types.ModuleType(name + ".random")
    random.lazy_call, random._lazy_init, random.is_initialized = module._lazy_call, module._lazy_init, module.is_initialized
    sys.modules[name], sys.modules[name + ".random"] = module, random
    return module, random


class Device:
    """A stand-in, what was noted in it, and the once that it will be on."""

    def __init__(self, **options):
        self.name = "device%d" % next(numbers)
        self.module, self.random = make("standin." + self.name, **options)
        self.once = lazyonce.named(self.name)
        self.seen = []

    def note(self, what):
        return lambda: self.seen.append(what)

    def install(self):
        lazyonce.torch.install(self.module)
