"""What a forked child finds by `on_fork`: each child under a watchdog, in a process of its own."""
import gc
import os
import threading

import pytest
from alone import alone, in_fork, python
from child import start_daemon

import lazyonce
from lazyonce import ForkedError, Once, Slot, _slot


def uses(once):
    """Every use that a poisoned once refuses."""
    return once.init, lambda: once.init(timeout=0), lambda: once.call(int)


def refused(once, parent):
    """Each use says who used it in the parent; `is_initialized` says no."""
    for use in uses(once):
        with pytest.raises(ForkedError, match=str(parent)) as caught:
            use()
        assert caught.value.status == ForkedError.status and "test_forks.py" in str(caught.value), caught.value
    assert not once.is_initialized() and not once.is_initializing()


@alone
def test_poison_a_child_of_one_that_is_ready():
    parent, once = os.getpid(), Once("gpu", on_fork="poison")
    assert once.init()
    in_fork(lambda: refused(once, parent))
    assert once.is_initialized() and once.call(int)


@alone
def test_poison_also_after_a_failure():
    parent, once = os.getpid(), Once("gpu", lambda: 1 / 0, on_fork="poison")
    with pytest.raises(ZeroDivisionError):
        once.init()
    in_fork(lambda: refused(once, parent))


@alone
def test_poison_also_while_another_thread_initializes():
    parent, inside, over = os.getpid(), threading.Event(), threading.Event()
    once = Once("gpu", lambda: (inside.set(), over.wait()), on_fork="poison")
    first = start_daemon(lambda: once.init())  # from this file: the error names the place
    inside.wait()
    in_fork(lambda: refused(once, parent))
    over.set()
    first.join()
    assert once.is_initialized()


@alone
def test_poison_leaves_an_untouched_once_usable():
    seen, once = [], Once("gpu", lambda: seen.append("started"), on_fork="poison")
    once.call(lambda: seen.append("queued"))

    def child():
        assert once.init() and seen == ["started", "queued"] and once.is_initialized()

    in_fork(child)
    assert not once.is_initialized() and once.init() and seen == ["started", "queued"]


@alone
def test_poison_is_taken_off_by_a_reset():
    seen, once = [], Once("gpu", lambda: seen.append(os.getpid()), on_fork="poison")
    once.init()

    def child():
        with pytest.raises(ForkedError):
            once.init()
        once.reset()
        assert once.init() and seen == [os.getppid(), os.getpid()]

    in_fork(child)


@alone
def test_reset_starts_anew_with_the_queue():
    seen, once = [], Once("gpu", lambda: seen.append(os.getpid()), on_fork="reset")
    once.init()

    def child():
        assert not once.is_initialized() and once.call(lambda: seen.append("queued")) is False
        assert once.init() and seen == [os.getppid(), os.getpid(), "queued"]

    in_fork(child)
    assert once.is_initialized() and seen == [os.getpid()]


@alone
def test_reset_keeps_what_was_queued_in_the_parent():
    seen, inside, over, parent = [], threading.Event(), threading.Event(), os.getpid()

    def start():
        if os.getpid() == parent:
            inside.set()
            over.wait()

    once = Once("gpu", start, on_fork="reset")
    once.call(lambda: seen.append(os.getpid()))
    first = start_daemon(once.init)
    inside.wait()

    def child():
        assert once.init() and seen == [os.getpid()]

    in_fork(child)
    over.set()
    first.join()
    assert seen == [parent]


def fork_inside(policy):
    children = []
    once = Once("gpu", lambda: children.append(os.fork()), on_fork=policy)
    try:
        once.init()
    except ForkedError:
        os._exit(7 if children == [0] else 8)
    assert once.is_initialized() and len(children) == 1
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 7


@alone
def test_poison_voids_the_attempt_of_the_thread_that_forks():
    fork_inside("poison")


@alone
def test_reset_voids_the_attempt_of_the_thread_that_forks():
    fork_inside("reset")


@alone
def test_a_child_keeps_the_slots_of_the_thread_that_forked():
    made = []

    def make(index):
        made.append((os.getpid(), index))
        return object()

    class Value:
        def __del__(self):
            assert os.getpid() == parent

    of_thread, of_all, of_other = Slot(make), Slot(make, "process"), Slot(lambda index: Value())
    values, parent = [of_thread.get(), of_all.get()], os.getpid()
    got, over = threading.Event(), threading.Event()
    first = start_daemon(lambda: (of_other.get(), got.set(), over.wait()))
    got.wait()

    def child():
        assert [of_thread.get(), of_all.get()] == values and made == [(parent, 0)] * 2
        of_thread.get(1), of_all.get(1)
        other = []
        thread = threading.Thread(target=lambda: other.append(of_thread.get()))
        thread.start()
        thread.join()
        assert other[0] not in values and made[2:] == [(os.getpid(), 1), (os.getpid(), 1), (os.getpid(), 0)]

    in_fork(child)
    assert len(made) == 2
    over.set()
    first.join()


@alone
def test_a_child_makes_the_value_anew_that_another_thread_was_making():
    parent, inside, over = os.getpid(), threading.Event(), threading.Event()

    def make(index):
        if os.getpid() == parent:
            inside.set()
            over.wait()
        return os.getpid()

    for scope in ("process", "thread"):
        slot = Slot(make, scope)
        inside.clear()
        over.clear()
        first = start_daemon(slot.get)
        inside.wait()

        def child():
            assert slot.get() == os.getpid()

        in_fork(child)
        over.set()
        first.join()
        assert slot.get() == parent


class Ends:
    """A value that says where it ended."""

    def __init__(self, told):
        self.told = told

    def __del__(self):
        os.write(self.told, b"%d\n" % os.getpid())


@alone
def test_a_child_ends_no_value_of_another_thread():
    told, telling = os.pipe()
    slot, other, all_of_it = Slot(lambda index: Ends(telling)), Slot(lambda index: Ends(telling)), Slot(lambda index: Ends(telling), "process")
    got, over = threading.Event(), threading.Event()

    def work():
        slot.get()
        slot.get(1)
        lent = lazyonce.capture().__enter__()
        del lent  # only this thread's entered state has it
        got.set()
        over.wait()

    first = start_daemon(work)
    got.wait()
    slot.get()
    all_of_it.get()
    parent = os.getpid()

    def child():
        os.set_blocking(told, False)
        os.write(telling, b"begun\n")
        gc.collect()
        assert os.read(told, 1000) == b"begun\n"
        in_fork(gc.collect)
        assert slot.get() and all_of_it.get() and other.get()

    in_fork(child)
    over.set()
    first.join()
    assert os.read(told, 1000).split() == [b"%d" % parent] * 2


@alone
def test_a_child_ends_its_own_values_as_ever():
    told, telling = os.pipe()
    slot = Slot(lambda index: Ends(telling))
    slot.get()
    kept = [slot]
    del slot

    def child():
        kept.clear()
        gc.collect()
        assert os.read(told, 1000) == b"%d\n" % os.getpid()

    in_fork(child)
    assert not _slot._forking


LEAVES = """
import os, threading, lazyonce
slot = lazyonce.Slot(lambda index: index)
status = []

def work():
    slot.get(3)
    child = os.fork()
    if child:
        status.append(os.waitpid(child, 0)[1])

thread = threading.Thread(target=work)
thread.start()
thread.join()
if status: print(*status)
"""


def test_a_thread_with_a_value_may_fork_and_end_in_the_child():
    assert python("-c", LEAVES) == "0\n"
