"""The numbers that C has for the keys of calls."""
import itertools
import weakref
from typing import Dict, Hashable, List, Optional

# In one step, unlike what Python can say; weakref's own dicts use it.
from _weakref import _remove_dead_weakref as _remove  # type: ignore[attr-defined]

_numbers = itertools.count(1)


class Key:
    """What all calls with an equal key hold, and nobody else: it goes with the last of them."""

    __slots__ = ("number", "__weakref__")

    def __init__(self) -> None:
        self.number = next(_numbers)


class _Reference(weakref.ref):  # type: ignore[type-arg]
    __slots__ = ("key",)
    key: Hashable


class Keys:
    """Of one once. There is no lock, because `__eq__` of a key is anybody's code: each step on the dict is whole.

    gone: what has to be forgotten. Noting it is all that is done where a key goes, mostly in a callback of C: no line of Python runs
        there, which an interrupt could come out of and be lost.
    """

    __slots__ = ("_found", "gone")

    def __init__(self) -> None:
        self._found: Dict[Hashable, _Reference] = {}
        self.gone: List[_Reference] = []

    def get(self, key: Hashable) -> Key:
        """The same for equal keys, as long as somebody holds it."""
        hash(key)  # what has none must not get as far as a reference that would look for it
        made = Key()
        reference = _Reference(made, self.gone.append)
        reference.key = key
        while True:
            held: Optional[Key] = self._found.setdefault(key, reference)()
            if held is not None:
                return held
            _remove(self._found, key)  # whoever is about to may be a thread that a fork has left behind

    def forget(self) -> None:
        """Lets the keys go that nobody holds any more."""
        while self.gone:
            try:
                reference = self.gone.pop()
            except IndexError:  # another thread does the same
                return
            _remove(self._found, reference.key)
