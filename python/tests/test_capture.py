"""`capture`: a thread's values on other threads, and how long they live."""
import concurrent.futures
import gc
import threading
import weakref

import pytest
from alone import alone, in_fork
from child import run_threads, start_daemon

import lazyonce
from lazyonce import LazyError, Slot

pytestmark = pytest.mark.usefixtures("no_collector")


class Value:
    def __init__(self, index):
        self.index = index


def inside(state, *slots):
    with state:
        return [slot.get() for slot in slots]


def test_a_thread_finds_the_values_of_the_one_that_was_captured():
    one, two, seen = Slot(Value), Slot(Value), []
    mine = [one.get(), two.get()]
    state = lazyonce.capture()
    run_threads(*[lambda: seen.append(inside(state, one, two))] * 8)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        seen += pool.map(lambda _: inside(state, one, two), range(20))
    assert seen == [mine] * 28


def test_what_was_not_captured_is_the_thread_s_own_also_behind_it():
    slot, other = Slot(Value), Slot(Value)
    slot.get(0)
    state = lazyonce.capture()

    def work():
        before = slot.get(0)
        with state:
            lent, own, of_other = slot.get(0), slot.get(1), other.get()
        assert slot.get(0) is before is not lent
        assert slot.get(1) is own and other.get() is of_other

    run_threads(work)
    assert lent_only(state, slot)


def lent_only(state, slot):
    """A thread that was only inside has nothing of its own afterwards."""
    seen = []

    def work():
        with state:
            lent = slot.get()
        seen.append(slot.get() is not lent)

    run_threads(work)
    return seen == [True]


def test_enters_nest_and_the_innermost_that_has_a_value_counts():
    slot, states, values = Slot(Value), [], []

    def captured(*indices):
        values.append([slot.get(each) for each in indices])
        states.append(lazyonce.capture())

    run_threads(lambda: captured(0, 1))
    run_threads(lambda: captured(1))
    (zero, one), (other,) = values
    with states[0]:
        with states[1]:
            assert slot.get(0) is zero and slot.get(1) is other
            with states[0]:
                assert slot.get(0) is zero and slot.get(1) is one
            assert slot.get(1) is other
            both = lazyonce.capture()
        assert slot.get(1) is one
    with both:
        assert slot.get(0) is zero and slot.get(1) is other
    assert slot.get(0) is not zero and slot.get(1) not in (one, other)


def test_leaving_out_of_order_and_on_the_wrong_thread():
    slot, state = Slot(Value), lazyonce.capture()
    mine = slot.get()
    second = lazyonce.capture()
    caught = []

    def work():
        second.__enter__()
        state.__enter__()
        second.__exit__(None, None, None)
        assert slot.get() is not mine
        try:
            second.__exit__(None, None, None)
        except LazyError as failure:
            caught.append(failure)

    run_threads(work)
    with pytest.raises(LazyError, match="not entered"):
        state.__exit__(None, None, None)
    assert caught[0].status == -11


def test_an_exception_leaves_it():
    slot = Slot(Value)
    mine, state, seen = slot.get(), lazyonce.capture(), []

    def work():
        try:
            with state:
                seen.append(slot.get())
                raise ValueError
        except ValueError:
            seen.append(slot.get())

    run_threads(work)
    assert seen[0] is mine is not seen[1]


def test_the_values_live_as_long_as_the_snapshot_and_end_with_it():
    slot, kept = Slot(Value), []

    def work():
        kept.append(weakref.ref(slot.get()))
        kept.append(lazyonce.capture())

    run_threads(work)
    gone, state = kept
    assert gone() is not None and inside(state, slot)[0] is gone()
    del state, kept[:]
    assert gone() is None


def test_a_thread_that_ends_inside_has_left_it():
    slot, got = Slot(Value), []
    gone = weakref.ref(slot.get())
    state = lazyonce.capture()
    run_threads(lambda: (state.__enter__(), got.append(slot.get() is gone())))
    assert got == [True]
    del slot, state
    assert gone() is None


def test_values_of_the_process_are_the_same_inside():
    slot = Slot(Value, "process")
    with lazyonce.capture():
        value = slot.get()
    assert slot.get() is value


def test_a_factory_inside_a_snapshot_finds_it_too():
    base = Slot(Value)
    derived = Slot(lambda index: base.get(index))
    mine, state, seen = base.get(), lazyonce.capture(), []
    run_threads(lambda: seen.extend(inside(state, derived)))
    assert seen == [mine]


@alone
def test_a_child_forked_inside_is_inside():
    slot, over, waiting = Slot(Value), threading.Event(), threading.Event()
    mine, state = slot.get(), lazyonce.capture()

    def other():
        with state:
            waiting.set()
            over.wait()

    thread = start_daemon(other)
    waiting.wait()

    def child():
        assert slot.get() is mine
        state.__exit__(None, None, None)
        assert slot.get() is mine  # its own
        with pytest.raises(LazyError):
            state.__exit__(None, None, None)

    with state:
        in_fork(child)
        assert slot.get() is mine
    over.set()
    thread.join()


class Engine:
    """Its slot's values refer to it."""

    def __init__(self, scope):
        self.slot = Slot(lambda index: (self, index), scope)


@pytest.mark.parametrize("scope", ["thread", "process"])
def test_a_slot_that_its_values_refer_to_is_collected_on_threads_that_stay(scope):
    engines, got, over = [Engine(scope)], threading.Event(), threading.Event()
    gone = weakref.ref(engines[0])

    def work():
        engines[0].slot.get(1)
        got.set()
        over.wait()

    first = start_daemon(work)
    got.wait()
    engines[0].slot.get()
    engines.clear()
    gc.collect()
    assert gone() is None
    over.set()
    first.join()


class Number:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


@pytest.mark.parametrize("scope", ["thread", "process"])
def test_an_index_is_any_whole_number(scope):
    slot = Slot(lambda index: [index], scope)
    assert slot.get(Number(3)) is slot.get(3) and slot.get(3) == [3]
    for wrong in (0.5, 0.0, "0", None):
        with pytest.raises(TypeError):
            slot.get(wrong)
    for wrong in (Number(-1), Number(2**32)):
        with pytest.raises(ValueError):
            slot.get(wrong)
