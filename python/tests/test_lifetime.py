"""A callable is kept alive until it has run, and released then, without the help of the garbage collector."""
import gc
import threading
import weakref

import pytest

import lazyonce
from lazyonce import Once, _run


class Task:
    def __init__(self, failure=None):
        self.failure = failure

    def __call__(self):
        if self.failure:
            raise self.failure()


@pytest.fixture(autouse=True)
def no_collector():
    gc.collect()
    gc.disable()
    before = len(_run.alive)
    yield
    assert len(_run.alive) == before
    gc.enable()


def submitted(once, failure=None, **options):
    task = Task(failure)
    assert once.call(task, **options) is False
    return weakref.ref(task)


def test_until_it_has_run():
    once = Once("gpu")
    task = submitted(once)
    assert task() is not None
    once.init()
    assert task() is None


def test_until_it_is_cancelled():
    once, owner = Once("gpu"), Task()
    task = submitted(once, owner=owner)
    assert once.cancel_owner(owner) == 1 and task() is None


def test_the_owner_lives_as_long_as_its_calls():
    once, owner = Once("gpu"), Task()
    submitted(once, owner=owner)
    owner = weakref.ref(owner)
    assert owner() is not None
    once.init()
    assert owner() is None


def test_until_it_is_replaced():
    once = Once("gpu")
    first, second = submitted(once, key=1), submitted(once, key=1)
    assert first() is None and second() is not None
    once.init()
    assert second() is None


def test_until_the_close():
    once = Once("gpu")
    task = submitted(once)
    once.close()
    assert task() is None


def test_until_the_once_is_gone():
    once = Once("gpu")
    task, gone = submitted(once), weakref.ref(once)
    del once
    assert gone() is None and task() is None


def test_through_a_reset():
    once = Once("gpu")
    task = submitted(once)
    once.reset()
    assert task() is not None
    once.init()
    assert task() is None


@pytest.mark.parametrize("policy", ["keep", "drop", "continue"])
def test_until_it_failed_for_the_last_time(policy):
    once = Once("gpu", on_deferred_failure=policy)
    task = submitted(once, ValueError)
    with pytest.raises(lazyonce.DeferredCallError):
        once.init()
    assert (task() is None) == (policy == "drop")
    if policy != "drop":
        task().failure = None
        once.init()
    assert task() is None


def test_what_is_not_taken_is_not_kept():
    once = Once("gpu")
    once.close()
    task = Task()
    with pytest.raises(lazyonce.ClosedError):
        once.call(task)
    task = weakref.ref(task)
    assert task() is None


def test_at_once():
    once = Once("gpu")
    seen = []

    def outer():
        task = Task()
        once.call(task)
        seen.append(weakref.ref(task))
        del task
        assert seen[0]() is None
        with pytest.raises(ValueError):
            once.call(Task(ValueError))

    once.call(outer)
    once.init()


def test_no_variable_of_the_frames_is_kept():
    once = Once("gpu")

    def register():
        big = Task()
        once.call(int)
        return weakref.ref(big)

    assert register()() is None
    once.init()


def test_a_once_whose_initializer_knows_it_is_collected():
    class Backend:
        def __init__(self):
            self.once = Once("gpu", self.start)

        def start(self):
            pass

    backend = Backend()
    backend.once.init()
    gone = weakref.ref(backend.once)
    del backend
    gc.collect()
    assert gone() is None


def test_many_onces_come_and_go_on_many_threads():
    def body():
        for _ in range(200):
            once = Once("gpu", Task())
            submitted(once)
            once.init()

    threads = [threading.Thread(target=body) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_an_interrupt_before_the_library_has_it_keeps_nothing(monkeypatch):
    """It comes as the callable has just been noted."""
    class Noted(set):
        def add(self, runner):
            super().add(runner)
            raise KeyboardInterrupt

    noted, once, task = Noted(), Once("gpu"), Task()
    monkeypatch.setattr(_run, "alive", noted)
    with pytest.raises(KeyboardInterrupt):
        once.call(task, owner=task)
    assert not noted
    monkeypatch.undo()
    task = weakref.ref(task)
    gc.collect()
    assert task() is None and once.init()
