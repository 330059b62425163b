"""At the recursion limit: every call ends, nothing is printed by ctypes, and what is left can be used."""
import sys

import pytest
from alone import alone

import lazyonce
from lazyonce import Once, Slot

LIMIT = 300


def at_each_distance(body):
    """Runs it with so many frames left, from too few for anything to enough for everything: what came of each, the latter first."""
    def deep(frames):
        if frames:
            return deep(frames - 1)
        try:
            return body()
        except (RecursionError, lazyonce.LazyError) as failure:
            return type(failure)

    unraisable, found = [], []
    before, sys.unraisablehook = sys.getrecursionlimit(), unraisable.append
    for left in range(90, 0, -1):
        sys.setrecursionlimit(LIMIT)
        try:
            found.append(deep(LIMIT - left))
        except RecursionError:
            found.append(RecursionError)
        finally:
            sys.setrecursionlimit(before)
    assert not [each for each in unraisable if "ctypes" in (each.err_msg or "")]  # a `__del__` has no frames left there either
    return found


def bad():
    raise ValueError("x")


@alone
def test_a_queued_call_that_fails():
    onces = []

    def body():
        onces.append(Once("gpu"))
        onces[-1].call(bad)
        return onces[-1].init()

    found = at_each_distance(body)
    assert found[0] is lazyonce.DeferredCallError and found[-1] is RecursionError
    assert not any(once.is_initialized() for once in onces)


@alone
def test_a_queued_call_that_succeeds():
    ran = []

    def body():
        once = Once("gpu")
        once.call(lambda: ran.append(once))
        assert once.init() and once.is_initialized()
        return True

    found = at_each_distance(body)
    assert found[0] is True and found[-1] is RecursionError and len(ran) >= found.count(True)


@alone
def test_a_queued_call_that_was_handed_in_with_room_is_kept_and_runs_later():
    onces, seen = [], []

    def body():
        return onces[-1].init()

    for _ in range(2):
        onces.append(Once("gpu"))
        onces[-1].call(lambda: seen.append(1))
        at_each_distance(body)
        assert onces[-1].init()


@alone
def test_a_factory_of_the_process():
    slots = []

    def body():
        slots.append(Slot(lambda index: index, scope="process"))
        return slots[-1].get(5)

    found = at_each_distance(body)
    assert found[0] == 5 and found[-1] is RecursionError and all(slot.get(5) == 5 for slot in slots)


@alone
def test_a_call_that_hands_itself_in_without_end():
    once = Once("gpu")

    def seed():
        once.call(seed)

    once.call(seed)
    with pytest.raises((RecursionError, lazyonce.LazyError)):
        once.init()
    assert not once.is_initialized()


@alone
def test_initializers_that_start_others_without_end():
    def load(number):
        Once("module %d" % number, lambda: load(number + 1)).init()

    with pytest.raises(RecursionError):
        load(0)


@alone
def test_factories_of_the_process_that_make_others_without_end():
    def make(index):
        return Slot(make, scope="process").get(index)

    with pytest.raises(RecursionError):
        make(0)


class Notes(Exception):
    """What Python 3.11 and newer cannot format."""

    @property
    def __notes__(self):
        raise Notes("again")


class Name(type):
    def __getattribute__(cls, name):
        if name in ("__qualname__", "__module__", "__name__"):
            raise AttributeError(name)
        return type.__getattribute__(cls, name)


class Nameless(Exception, metaclass=Name):
    """What no version can format."""


class Empty(Exception):
    """False in a test."""

    def __len__(self):
        return 0


@alone
def test_an_exception_that_cannot_be_formatted_comes_out_all_the_same():
    for kind in (Notes, Nameless, Empty):
        failure = kind("n")

        def fail():
            raise failure

        with pytest.raises(Exception) as caught:
            Once("gpu", fail).init()
        assert caught.value is failure
        once = Once("gpu")
        once.call(fail)
        with pytest.raises(lazyonce.DeferredCallError) as caught:
            once.init()
        assert caught.value.__cause__ is failure
        with pytest.raises(Exception) as caught:
            Slot(lambda index: fail(), scope="process").get()
        assert caught.value is failure
