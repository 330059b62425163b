"""Several threads: who waits, who runs, who hears of a failure. Ordered by gates."""
import math
import threading

import pytest
from alone import alone
from child import run_threads, start_daemon, until_asleep

import lazyonce
from lazyonce import Once


class Odd(Exception):
    pass


@alone
def test_a_call_during_another_threads_attempt_waits_and_runs_on_its_own_thread():
    inside, ids, seen = threading.Event(), [], []

    def start():
        inside.set()
        while not ids:
            pass
        until_asleep(ids[0])
        seen.append("started")

    def other():
        inside.wait()
        ids.append(threading.get_native_id())
        assert not once.is_initializing()
        assert once.call(lambda: seen.append(threading.get_native_id() == ids[0])) is True

    once = Once("gpu", start)
    run_threads(once.init, other)
    assert seen == ["started", True]


@alone
def test_a_contended_call_can_be_queued_instead():
    inside, called, seen = threading.Event(), threading.Event(), []

    def start():
        inside.set()
        called.wait()

    def other():
        inside.wait()
        assert once.call(lambda: seen.append(threading.get_ident())) is False
        called.set()

    once = Once("gpu", start, contended="queue")
    run_threads(lambda: (once.init(), seen.append(threading.get_ident())), other)
    assert len(seen) == 2 and seen[0] == seen[1]


@alone
def test_sixteen_threads_start_it_once_and_lose_nothing():
    seen, barrier, runs = [], threading.Barrier(16), []

    def body(number):
        barrier.wait()
        for index in range(50):
            once.call(lambda: seen.append((number, index)))
            if index == number:
                once.init()

    once = Once("gpu", lambda: runs.append(1))
    run_threads(*[lambda number=number: body(number) for number in range(16)])
    assert len(runs) == 1 and len(seen) == 16 * 50


@alone
def test_two_threads_in_a_circle_get_the_error_instead_of_a_hang():
    ids, met = {}, threading.Barrier(2)
    failures = []

    def start(mine, other):
        def initialize():
            ids[mine] = threading.get_native_id()
            met.wait()
            try:
                onces[other].init()
            except lazyonce.DeadlockError as failure:
                failures.append(str(failure))
        return initialize

    onces = {"a": Once("a", start("a", "b")), "b": Once("b", start("b", "a"))}
    run_threads(onces["a"].init, onces["b"].init)
    assert len(failures) == 1 and all(str(each) in failures[0] for each in ids.values()), failures


@alone
def test_a_wait_has_limits():
    inside, over = threading.Event(), threading.Event()

    def start():
        inside.set()
        over.wait()

    once = Once("slow", start, timeout=0.01)
    first = start_daemon(once.init)
    inside.wait()
    for wait in (once.init, lambda: once.init(timeout=0), lambda: once.call(print)):
        with pytest.raises(lazyonce.WaitTimeout, match="slow") as caught:
            wait()
        assert isinstance(caught.value, TimeoutError) and caught.value.status == -8
    ids = []
    second = start_daemon(lambda: (ids.append(threading.get_native_id()), once.init(math.inf)))
    while not ids:
        pass
    until_asleep(ids[0])
    over.set()
    first.join()
    second.join()
    assert once.is_initialized()


@alone
def test_close_sends_waiters_away():
    inside, over, ids, failures = threading.Event(), threading.Event(), [], []

    def start():
        inside.set()
        over.wait()

    def body():
        ids.append(threading.get_native_id())
        try:
            once.init()
        except lazyonce.ClosedError:
            failures.append(1)

    once = Once("gpu", start)
    first = start_daemon(lambda: body())
    inside.wait()
    second = start_daemon(body)
    while len(ids) < 2:
        pass
    until_asleep(ids[1])
    once.close()
    second.join()
    assert len(failures) == 1
    over.set()
    first.join()
    assert len(failures) == 2


@alone
def test_cancelling_an_owner_waits_for_what_runs():
    inside, owner, ids, seen = threading.Event(), object(), [], []

    def running():
        inside.set()
        while not ids:
            pass
        until_asleep(ids[0])
        seen.append("ran")

    def cancel():
        inside.wait()
        ids.append(threading.get_native_id())
        seen.append(once.cancel_owner(owner))

    once = Once("gpu")
    once.call(running, owner=owner)
    run_threads(once.init, cancel)
    assert seen == ["ran", 0]


def waiters_of_a_failure(policy, error, request=False):
    """What the thread gets that waits for another's failing attempt, and how often the initializer ran."""
    inside, ids, runs, seen = threading.Event(), [], [], []

    def start():
        runs.append(1)
        if len(runs) == 1:
            inside.set()
            while not ids:
                pass
            until_asleep(ids[0])
            raise error

    def other():
        inside.wait()
        ids.append(threading.get_native_id())
        try:
            seen.append(once.init())
        except lazyonce.LazyError as failure:
            seen.append(failure)

    once = Once("gpu", None if request else start, on_failure=policy)
    if request:
        once.call(start)
    waiter = start_daemon(other)
    with pytest.raises(lazyonce.DeferredCallError if request else type(error)):
        once.init()
    waiter.join()
    return once, seen[0], len(runs)


@alone
def test_those_who_waited_share_the_failure_try_again_or_find_it_final():
    once, seen, runs = waiters_of_a_failure("share", Odd("no device"))
    assert type(seen) is lazyonce.InitError and "Odd: no device" in str(seen) and runs == 1
    once, seen, runs = waiters_of_a_failure("retry", Odd())
    assert seen is True and runs == 2
    once, seen, runs = waiters_of_a_failure("sticky", Odd())
    assert type(seen) is lazyonce.InitError and runs == 1
    for use in (once.init, lambda: once.call(print)):
        with pytest.raises(lazyonce.InitError):
            use()
    once.reset()
    assert once.init()


@alone
def test_those_who_waited_for_a_deferred_failure_are_told_where_it_was_registered():
    once, seen, _ = waiters_of_a_failure("share", Odd("bad seed"), request=True)
    assert type(seen) is lazyonce.DeferredCallError and seen.__cause__ is None
    assert "Odd: bad seed" in str(seen) and str(seen).endswith("once.call(start)")


@alone
def test_what_the_initializer_says_reaches_those_who_waited():
    once, seen, _ = waiters_of_a_failure("share", lazyonce.BackendUnavailable("no driver"))
    assert type(seen) is lazyonce.BackendUnavailable and "no driver" in str(seen)


@alone
def test_run_threads_with_failures_leaves_nobody_waiting():
    left, seen = [Odd(str(number)) for number in range(20)], []

    def start():
        if left:
            raise left.pop()

    once = Once("gpu", start, on_failure="retry")

    def body():
        while True:
            try:
                seen.append(once.init())
                return
            except Odd:
                pass

    run_threads(*[body] * 16)
    assert seen == [True] * 16
