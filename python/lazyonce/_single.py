"""What cannot be copied."""
from typing import NoReturn, SupportsIndex


class Single:
    """C knows it by its address, or a thread by its identity: a copy would end what is the original's."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("cannot copy or pickle a %s" % type(self).__name__)

    def _refuse_another(self, made: str) -> None:
        """An `__init__` of what is in use would take away what C has addresses of. `made`: an attribute that is there after the first."""
        if hasattr(self, made):
            raise TypeError("cannot initialize a %s a second time" % type(self).__name__)
