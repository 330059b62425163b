"""Keys: how long they live, and that they are nobody else's."""
import threading
import weakref

import pytest
from child import run_threads

from lazyonce import Once

pytestmark = pytest.mark.usefixtures("no_collector")


class Plugin:
    pass


def keyed(once, **options):
    key = Plugin()
    once.call(lambda: None, key=(key, "seed"), **options)
    return weakref.ref(key)


@pytest.mark.parametrize("end", ["init", "timed init", "cancel", "close"])
def test_a_key_goes_with_its_call(end):
    once, owner = Once("gpu"), Plugin()
    key = keyed(once, owner=owner)
    assert key() is not None
    {"init": once.init, "timed init": lambda: once.init(0), "cancel": lambda: once.cancel_owner(owner), "close": once.close}[end]()
    assert key() is None


def test_a_key_stays_as_long_as_a_call_with_it():
    once, seen = Once("gpu"), []
    key = (1, 2)
    for number in range(5):
        once.call(lambda number=number: seen.append(number), key=key)
        once.call(lambda number=number: seen.append(10 + number), key=(10, number))
    once.init()
    once.reset()
    once.call(lambda: seen.append("again"), key=key)
    once.call(lambda: seen.append("once"), key=(1, 2))
    once.init()
    assert sorted(map(str, seen)) == ["10", "11", "12", "13", "14", "4", "once"]


def test_an_init_that_returns_late_does_not_forget_the_keys_of_the_next_round(monkeypatch):
    """It returns behind a reset, and behind a call that was queued then."""
    once, returned, go_on, seen = Once("gpu"), threading.Event(), threading.Event(), []
    enter = Once._enter

    def slow(self, function, *arguments):
        status = enter(self, function, *arguments)
        if threading.current_thread() is other:
            returned.set()
            go_on.wait()
        return status

    monkeypatch.setattr(Once, "_enter", slow)
    other = threading.Thread(target=once.init)
    other.start()
    returned.wait()
    once.reset()
    once.call(lambda: seen.append(1), key="seed")
    go_on.set()
    other.join()
    once.call(lambda: seen.append(2), key="seed")
    once.init()
    assert seen == [2]


def test_threads_that_use_one_key_queue_one_call():
    for _ in range(50):
        once, barrier, seen = Once("gpu"), threading.Barrier(4), []

        def use():
            barrier.wait()
            for _ in range(20):
                once.call(lambda: seen.append(1), key="seed")

        run_threads(*[use] * 4)
        once.init()
        assert seen == [1]
