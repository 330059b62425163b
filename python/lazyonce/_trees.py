"""The per-thread state of PyTorch's CUDA graph trees, on every thread.

`torch._inductor.cudagraph_trees` makes its containers and locks once, for the thread that imports it, and lends them to the
threads of autograd by PyTorch's own thread-local storage. `get_obj` finds neither on a thread that somebody else has started.
"""
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

    A thread's own are where the module looks first, in its `local`; the slot holds the same, so that a snapshot has them. The last
    that a thread has found are also in PyTorch's storage, so that the threads of autograd that work for it find them.
    """

    def __init__(self, module: ModuleType) -> None:
        self.own: Callable[[Any, str], Any] = vars(module)["get_obj"]
        self.local: threading.local = vars(module)["local"]
        self.storage: Any = getattr(vars(module).get("torch"), "_C", None)
        self.slot = _slot.Slot(self.own_state)
        self.get_obj = self.replacement()
        _slot.before_capture.append(self.find_state)
        exchange({id(self.own): self.get_obj})

    def undo(self) -> None:
        """Puts the module's function back."""
        exchange({id(self.get_obj): self.own})
        _slot.before_capture.remove(self.find_state)

    def own_state(self, index: int = 0) -> Dict[str, Any]:
        """This thread's own, made if it has none."""
        for name, make in KINDS.items():
            if not hasattr(self.local, name):
                setattr(self.local, name, make())
        return {name: getattr(self.local, name) for name in KINDS}

    def lent(self, name: str) -> bool:
        """Is this a thread of autograd, which finds in PyTorch's storage what it works with at the moment?"""
        if hasattr(self.local, name):
            return False
        try:
            self.own(self.local, name)
        except (AssertionError, RuntimeError):  # the latter without assertions, by python -O
            return False
        return True

    def find_state(self) -> None:
        """Makes the value of this thread that a snapshot must not lack."""
        if not any(map(self.lent, KINDS)):
            self.slot.get()

    def replacement(self) -> Callable[[Any, str], Any]:
        """The function that stands in."""

        def get_obj(local: Any, attr_name: str) -> Any:
            if local is not self.local or attr_name not in KINDS or self.lent(attr_name):
                return self.own(local, attr_name)
            self.own_state()  # also inside a snapshot, or what is put into the storage would look lent behind it
            found = self.slot.get()[attr_name]
            storage = self.storage
            if storage is not None and not (storage._is_key_in_tls(attr_name) and storage._get_obj_in_tls(attr_name) is found):
                storage._stash_obj_in_tls(attr_name, found)
            return found

        return get_obj
