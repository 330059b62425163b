"""Ctrl-C: in a wait, in a drain, and where ctypes would lose it."""
import ctypes
import signal
import sys
import threading

import pytest
from alone import alone
from child import CtrlC, start_daemon, until_asleep

from lazyonce import Once, Slot
from lazyonce._library import LIBRARY


@alone
def test_a_signal_between_two_calls_is_not_lost_in_ctypes():
    """C raises it where no line of Python runs: it is pending when the next callable begins."""
    lost = []
    sys.unraisablehook = lost.append
    raise_signal = ctypes.cast(getattr(ctypes.CDLL(None), "raise"), ctypes.c_void_p)
    for policy in ("keep", "drop", "continue"):
        seen, once = [], Once("gpu", on_deferred_failure=policy)
        call = ctypes.CDLL(LIBRARY._name).lazy_once_call
        assert call(ctypes.c_void_p(once._address), raise_signal, ctypes.c_void_p(signal.SIGINT)) == 1
        for each in "ab":
            once.call(lambda each=each: seen.append(each))
        with pytest.raises(KeyboardInterrupt):
            once.init()
        assert seen == []
        assert once.init() and seen == ["a", "b"] and not lost


@alone
def test_a_signal_that_comes_anywhere_in_a_drain_loses_no_call():
    """A timer's signal, wherever it comes: each call runs once, but for the one that the interrupt came out of."""
    lost = []
    sys.unraisablehook = lost.append

    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    for round in range(20):
        seen, once = [], Once("gpu")
        for number in range(2000):
            once.call(lambda number=number: seen.append(number))
        caught = 0
        while not once.is_initialized():
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + round * 2e-5)
                once.init()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                caught += 1
        if sys.version_info < (3, 10):  # it also looks behind the last line of what C drops
            lost[:] = [each for each in lost if each.exc_type is not KeyboardInterrupt]
        assert not lost and sorted(set(seen)) == list(range(2000)) and len(seen) - 2000 <= caught, (lost, len(seen), caught)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="CPython 3.9 and 3.10 look for signals where nobody can catch what comes of it")
@alone
def test_a_signal_that_comes_anywhere_in_get_is_not_lost_and_leaves_the_slot_usable():
    lost = []
    sys.unraisablehook = lost.append

    def interrupt(*_):
        raise KeyboardInterrupt

    def use():
        while not lost:
            assert slot.get(len(seen)) == len(seen)
            seen.append(1)

    signal.signal(signal.SIGALRM, interrupt)
    for scope in ("thread", "process"):
        slot, seen = Slot(lambda index: index, scope), []
        for round in range(200):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + round * 1e-6)
                use()
            except KeyboardInterrupt:
                pass
            assert slot.get(len(seen)) == len(seen)
        assert not lost and len(seen) > 200, (lost, len(seen))


@alone
def test_ctrl_c_ends_the_wait_of_get():
    main, entering, inside = threading.get_native_id(), threading.Event(), threading.Event()
    keys = CtrlC(lambda: (entering.wait(), until_asleep(main)), 5)
    slot = Slot(lambda index: (inside.set(), keys.let_go.wait()), "process")
    first = start_daemon(slot.get)
    inside.wait()
    entering.set()
    came, early = keys.interrupted(slot.get)
    first.join()
    assert came is not None and early and slot.get() == (None, True), came


def interrupted(wait):
    """Ctrl-C while the main thread waits for another's attempt: KeyboardInterrupt, and the once is unharmed."""
    main, entering, inside = threading.get_native_id(), threading.Event(), threading.Event()

    def asleep():
        entering.wait()
        until_asleep(main)

    def start():
        inside.set()
        keys.let_go.wait()

    keys = CtrlC(asleep, 5)
    once = Once("gpu", start)
    first = start_daemon(once.init)
    inside.wait()

    def enter():
        entering.set()
        wait(once)

    came, early = keys.interrupted(enter)
    first.join()
    assert came is not None and early and once.is_initialized(), came


@alone
def test_ctrl_c_ends_the_wait_of_init():
    interrupted(Once.init)


@alone
def test_ctrl_c_ends_the_wait_of_init_with_a_limit():
    interrupted(lambda once: once.init(timeout=60))


@alone
def test_ctrl_c_ends_the_wait_of_call_which_is_neither_run_nor_queued():
    seen = []
    interrupted(lambda once: once.call(lambda: seen.append(1)))
    assert seen == []


@alone
def test_ctrl_c_ends_the_wait_of_reset():
    interrupted(Once.reset)


@alone
def test_ctrl_c_comes_out_of_cancel_owner_when_it_is_done():
    main, entering, inside, owner, seen = threading.get_native_id(), threading.Event(), threading.Event(), object(), []
    keys = CtrlC(lambda: (entering.wait(), until_asleep(main)), 0.2)

    def slow():
        inside.set()
        keys.let_go.wait()
        seen.append("ran")

    once = Once("gpu")
    once.call(slow, owner=owner)
    once.call(lambda: seen.append("withdrawn"), owner=owner)
    first = start_daemon(once.init)
    inside.wait()
    entering.set()
    came, early = keys.interrupted(once.cancel_owner, owner)
    first.join()
    assert came is not None and not early and seen == ["ran"], (came, early, seen)
