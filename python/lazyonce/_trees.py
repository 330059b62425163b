"""The per-thread state of PyTorch's CUDA graph trees, on every thread.

`torch._inductor.cudagraph_trees` makes its containers and locks once, for the thread that imports it, and lends them to the
threads of autograd by PyTorch's own thread-local storage. `get_obj` finds neither on a thread that somebody else has started.
"""
import functools
import sys
import threading
from collections import defaultdict
from types import ModuleType
from typing import Any, Callable, Dict

from . import _slot

KINDS: Dict[str, Callable[[], object]] = {
    "tree_manager_containers": dict, "tree_manager_locks": lambda: defaultdict(threading.Lock),
}


def exchange(functions: Dict[int, Callable[..., object]]) -> None:
    """Puts each, given by the id of what it replaces, wherever a module has that under any name."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            for name, value in list(vars(module).items()):
                if id(value) in functions:
                    vars(module)[name] = functions[id(value)]


class ThreadTrees:
    """What stands in for the module's `get_obj`.

    Nothing is put into PyTorch's storage: it takes a reference over that it has not added, and asks for the GIL when the native
    thread ends, which ends the process if the interpreter is ending (2.11).
    """

    def __init__(self, module: ModuleType) -> None:
        self.own: Callable[[Any, str], Any] = vars(module)["get_obj"]
        self.local: threading.local = vars(module)["local"]
        self.slot = _slot.Slot(self.make)
        self.get_obj = self.replacement()
        _slot.before_capture.append(self.slot.get)
        exchange({id(self.own): self.get_obj})

    def undo(self) -> None:
        """Puts the module's function back."""
        exchange({id(self.get_obj): self.own})
        _slot.before_capture.remove(self.slot.get)

    def make(self, index: int) -> Dict[str, Any]:
        """This thread's own: the module's where it has them, else new ones."""
        return {name: getattr(self.local, name) if hasattr(self.local, name) else make() for name, make in KINDS.items()}

    def is_lent(self, name: str) -> bool:
        """Is this a thread of autograd, which finds in PyTorch's storage what it works with at the moment?"""
        if hasattr(self.local, name):
            return False
        try:
            self.own(self.local, name)
        except (AssertionError, RuntimeError):  # the latter without assertions, by python -O
            return False
        return True

    def replacement(self) -> Callable[[Any, str], Any]:
        """The function that stands in."""

        @functools.wraps(self.own)
        def get_obj(local: Any, attr_name: str) -> Any:
            if local is not self.local or attr_name not in KINDS or self.is_lent(attr_name):
                return self.own(local, attr_name)
            return self.slot.get()[attr_name]

        return get_obj
