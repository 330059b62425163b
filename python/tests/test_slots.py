"""Slots: values of each thread and of the process, and their ends."""
import concurrent.futures
import sys
import threading
import weakref

import pytest
from alone import python
from child import run_threads, start_daemon, until_asleep

import lazyonce
from lazyonce import DeadlockError, LazyError, Once, Slot

pytestmark = pytest.mark.usefixtures("no_collector")


class Value:
    def __init__(self, index):
        self.index = index
        self.thread = threading.get_ident()


def test_each_thread_has_its_own_by_index():
    slot, seen = Slot(Value), []
    mine = [slot.get(), slot.get(7), slot.get(2**32 - 1)]
    assert [each.index for each in mine] == [0, 7, 2**32 - 1]
    assert [slot.get(), slot.get(index=7), slot.get(2**32 - 1)] == mine
    run_threads(*[lambda: seen.append((slot.get(), slot.get(), threading.get_ident()))] * 3)
    assert all(one is two and one.thread == thread and one not in mine for one, two, thread in seen)
    assert len({one for one, _, _ in seen}) == 3


def test_the_process_has_one_by_index_and_its_waiters_sleep_without_the_gil():
    inside, ids, seen = threading.Event(), [], []

    def make(index):
        seen.append(index)
        inside.set()
        while len(ids) < 3:
            pass
        for each in ids if index == 0 else ():
            until_asleep(each)
        return Value(index)

    def wait():
        inside.wait()
        ids.append(threading.get_native_id())
        seen.append(slot.get())

    slot = Slot(make, scope="process")
    run_threads(slot.get, wait, wait, wait)
    assert seen[0] == 0 and seen[1:] == [slot.get()] * 3
    assert slot.get(5).index == 5 and slot.get(5) is slot.get(5) is not slot.get()


def test_different_indices_of_the_process_are_made_at_the_same_time():
    barrier = threading.Barrier(4)
    slot = Slot(lambda index: (barrier.wait(), index)[1], "process")
    seen = []
    run_threads(*[lambda index=index: seen.append(slot.get(index)) for index in range(4)])
    assert sorted(seen) == [0, 1, 2, 3]


@pytest.mark.parametrize("scope", ["thread", "process"])
def test_none_is_a_value(scope):
    seen = []
    slot = Slot(seen.append, scope)
    before = sys.getrefcount(None)
    for _ in range(1000):
        assert slot.get(3) is None
    assert seen == [3] and abs(sys.getrefcount(None) - before) < 100


@pytest.mark.parametrize("scope", ["thread", "process"])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, lazyonce.NotNow])
def test_a_failure_comes_out_as_itself_and_the_next_get_tries_again(scope, failure):
    failures = [failure("no device")]

    def make(index):
        if failures[0]:
            raise failures[0]
        return index

    slot = Slot(make, scope)
    for _ in range(2):
        with pytest.raises(failure) as caught:
            slot.get(4)
        assert caught.value is failures[0]
    failures[0] = None
    assert slot.get(4) == 4


def test_a_failure_leaves_nothing_behind():
    for scope in ("thread", "process"):
        gone = []

        def make(index):
            value = Value(index)
            gone.append(weakref.ref(value))
            raise ValueError

        slot = Slot(make, scope)
        try:
            slot.get()
        except ValueError:
            pass
        assert gone[0]() is None


def test_those_who_waited_share_a_failure_of_the_process_s_value():
    inside, ids, caught = threading.Event(), [], []

    def make(index):
        inside.set()
        while not ids:
            pass
        until_asleep(ids[0])
        raise ValueError("no device")

    def get():
        try:
            slot.get()
        except Exception as failure:
            caught.append(failure)

    slot = Slot(make, "process")
    first = start_daemon(get)
    inside.wait()
    ids.append(threading.get_native_id())
    get()
    first.join()
    waiter, maker = sorted(caught, key=lambda each: type(each) is ValueError)
    assert type(maker) is ValueError and type(waiter) is LazyError and waiter.status == -5
    assert "ValueError: no device" in str(waiter) and "make" in str(waiter) and "index 0" in str(waiter)


@pytest.mark.parametrize("scope", ["thread", "process"])
def test_a_factory_that_asks_for_what_it_makes(scope):
    slot = Slot(lambda index: slot.get(index) if index < 2 else index, scope)
    for index in (0, 1):
        with pytest.raises(DeadlockError, match='lambda.*" at index %d' % index):
            slot.get(index)
    assert slot.get(2) == 2
    other = Slot(lambda index: other.get(index - 1) + 1 if index else 0, scope)
    assert other.get(20) == 20


def test_a_circle_of_factories_is_refused():
    barrier, caught = threading.Barrier(2), []

    def make(index):
        barrier.wait()
        try:
            return slot.get(1 - index)
        except LazyError as failure:
            caught.append(failure)
            raise

    slot = Slot(make, "process")

    def get(index):
        try:
            slot.get(index)
        except LazyError:
            pass

    run_threads(lambda: get(0), lambda: get(1))
    assert any(isinstance(each, DeadlockError) for each in caught)


def test_a_factory_uses_onces_and_slots_and_a_once_uses_slots():
    once = Once("gpu", lambda: None)
    inner = Slot(lambda index: once.init() and index + 1, "process")
    outer = Slot(lambda index: inner.get(index) + 10)
    seen = []
    once.call(lambda: seen.append(outer_two.get()))
    outer_two = Slot(lambda index: (once.call(int), index))
    assert outer.get(3) == 14 and seen == [(True, 0)]


def test_a_value_ends_with_its_thread():
    slot, gone = Slot(Value), []
    run_threads(lambda: gone.extend(weakref.ref(slot.get(index)) for index in range(3)))
    assert len(gone) == 3 and not any(each() for each in gone)


def test_a_value_ends_with_a_thread_of_a_pool():
    slot = Slot(Value)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        gone = list(pool.map(lambda index: weakref.ref(slot.get(index)), range(50)))
        assert all(each() for each in gone)
    assert not any(each() for each in gone)


@pytest.mark.parametrize("scope", ["thread", "process"])
def test_a_value_ends_with_its_slot(scope):
    slot = Slot(Value, scope)
    over, gone = threading.Event(), [weakref.ref(slot.get())]
    got = threading.Event()
    other = start_daemon(lambda: (gone.append(weakref.ref(slot.get())), got.set(), over.wait()))
    got.wait()
    assert all(each() for each in gone)
    del slot, other
    over.set()
    for each in threading.enumerate():
        if each is not threading.current_thread():
            each.join()
    assert not any(each() for each in gone)


def test_values_of_other_threads_end_with_the_slot_while_those_run():
    slots, gone, got, over = [Slot(Value)], [], threading.Event(), threading.Event()

    def other():
        gone.append(weakref.ref(slots[0].get()))
        got.set()
        over.wait()

    thread = start_daemon(other)
    got.wait()
    assert gone[0]() is not None
    slots.clear()
    assert gone[0]() is None
    over.set()
    thread.join()


def test_a_destructor_may_use_the_slot_again():
    seen = []

    class Last:
        def __init__(self, index):
            self.index = index

        def __del__(self):
            seen.append(slot.get(9).index)

    slot = Slot(lambda index: Value(index) if index == 9 else Last(index))
    run_threads(slot.get)
    assert seen == [9]


def test_wrong_use_is_refused():
    slot = Slot(Value)
    for error, use in (
        (TypeError, lambda: Slot(7)), (ValueError, lambda: Slot(Value, "device")), (ValueError, lambda: Slot(Value, scope=0)),
        (ValueError, lambda: slot.get(-1)), (ValueError, lambda: slot.get(2**32)), (TypeError, lambda: slot.get("0")),
    ):
        with pytest.raises(error):
            use()


SHUTDOWN = """if True:
    import lazyonce, sys, threading
    class Value:
        def __init__(self, index):
            pass
        def __del__(self, finalizing=sys.is_finalizing):
            print("finalizing" if finalizing() else "before", flush=True)
    slots = [lazyonce.Slot(Value), lazyonce.Slot(Value, "process")]
    for slot in slots:
        slot.get()
    state, got = lazyonce.capture(), threading.Barrier(4)
    state.__enter__()
    def stay():
        with state:
            slots[0].get(5)
            got.wait()
            threading.Event().wait()
    for _ in range(3):
        threading.Thread(target=stay, daemon=True).start()
    got.wait()
    threading.Thread(target=lambda: (threading.main_thread().join(), slots[0].get(7))).start()
    sys.modules["kept for long"] = slots, state, Value
    print("main")
"""


def test_the_end_of_the_interpreter_touches_no_value_of_a_thread():
    """But for the one of a thread that ends before it. The daemons are ended inside their snapshot."""
    assert python("-X", "faulthandler", "-c", SHUTDOWN).split() == ["main", "before"]
