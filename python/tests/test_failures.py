"""Where an exception of a callable comes out, and what is left after it."""
import ctypes
import pickle
import threading
import traceback

import pytest
from child import start_daemon, until_asleep

import lazyonce
from lazyonce import Once
from lazyonce._library import LIBRARY

INTERRUPTS = [KeyboardInterrupt, SystemExit, GeneratorExit]


class Odd(Exception):
    pass


def failing(failure, seen, times=1):
    """Raises it so many times, then notes that it ran."""
    left = [failure] * times

    def fn():
        if left:
            raise left.pop()
        seen.append("mended")

    return fn


def test_the_hierarchy():
    for each in ("InitError", "DeferredCallError", "ForkedError", "DeadlockError", "WaitTimeout", "ClosedError", "NotNow",
                 "BackendUnavailable"):
        assert issubclass(getattr(lazyonce, each), lazyonce.LazyError)
    assert issubclass(lazyonce.LazyError, RuntimeError) and issubclass(lazyonce.WaitTimeout, TimeoutError)


def test_an_error_survives_pickling():
    for kind in (lazyonce.WaitTimeout, lazyonce.DeferredCallError, lazyonce.LazyError):
        failure = kind("what happened")
        failure.code = 7
        copy = pickle.loads(pickle.dumps(failure))
        assert type(copy) is kind and str(copy) == "what happened" and copy.code == 7 and copy.status == kind.status


def test_an_exception_of_the_initializer_comes_out_as_itself_and_the_next_init_tries_again():
    seen, failure = [], Odd("no device")
    once = Once("gpu", failing(failure, seen))
    once.call(lambda: seen.append("a"))
    with pytest.raises(Odd) as caught:
        once.init()
    assert caught.value is failure and seen == [] and not once.is_initialized()
    assert once.init() and seen == ["mended", "a"]


def test_an_exception_of_a_call_that_runs_at_once_comes_out_as_itself():
    once, failure, seen = Once("gpu"), Odd(), []

    def outer():
        with pytest.raises(Odd) as caught:
            once.call(failing(failure, []))
        seen.append(caught.value)

    once.call(outer)
    once.init()
    with pytest.raises(Odd) as caught:
        once.call(failing(failure, []))
    assert caught.value is failure and seen == [failure] and once.is_initialized()


def register(once, fn):
    once.call(fn)


def test_a_deferred_failure_tells_where_the_call_was_registered():
    once, seen, failure = Once("gpu"), [], Odd("bad seed")
    register(once, failing(failure, seen))
    line = register.__code__.co_firstlineno + 1
    with pytest.raises(lazyonce.DeferredCallError) as caught:
        once.init()
    text = str(caught.value)
    assert caught.value.__cause__ is failure and caught.value.status == -4
    assert "gpu" in text and "Odd: bad seed" in text and "%s:%d (register)" % (__file__, line) in text
    here = "".join(traceback.format_stack()).splitlines()[:2]
    assert here[0] in text
    assert text.endswith('  File "%s", line %d, in register\n    once.call(fn)' % (__file__, line))
    assert text.index("test_a_deferred_failure_tells") < text.index("in register")
    assert once.init() and seen == ["mended"]


def test_keep_resumes_at_the_call_that_failed():
    seen, once = [], Once("gpu", lambda: seen.append("start"))
    once.call(lambda: seen.append("a"))
    once.call(failing(Odd(), seen))
    once.call(lambda: seen.append("b"))
    with pytest.raises(lazyonce.DeferredCallError, match="stays at the head"):
        once.init()
    assert seen == ["start", "a"]
    assert once.init() and seen == ["start", "a", "mended", "b"]


def test_drop_goes_on_behind_it():
    seen, once = [], Once("gpu", on_deferred_failure="drop")
    once.call(failing(Odd(), seen))
    once.call(lambda: seen.append("b"), owner=once)
    with pytest.raises(lazyonce.DeferredCallError, match="was dropped") as caught:
        once.init()
    assert isinstance(caught.value.__cause__, Odd) and seen == []
    assert once.init() and seen == ["b"]


def test_drop_drops_what_c_queued_too():
    fail = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(lambda _: 7)
    once = Once("gpu", on_deferred_failure="drop")
    assert ctypes.CDLL(LIBRARY._name).lazy_once_call(ctypes.c_void_p(once._address), fail, None) == 1
    with pytest.raises(lazyonce.DeferredCallError, match="code 7") as caught:
        once.init()
    assert caught.value.code == 7 and caught.value.__cause__ is None and "registered" not in str(caught.value)
    assert once.init()


def test_continue_runs_the_others_and_keeps_it():
    seen, once, first = [], Once("gpu", on_deferred_failure="continue"), Odd("first")
    once.call(failing(first, seen))
    once.call(failing(Odd("second"), seen))
    once.call(lambda: seen.append("b"))
    with pytest.raises(lazyonce.DeferredCallError, match="first") as caught:
        once.init()
    assert caught.value.__cause__ is first and seen == ["b"]
    assert once.init() and seen == ["b", "mended", "mended"]


def test_continue_tells_everybody_where_the_first_was_registered():
    """The thread that ran them and one that waited, with calls at once that failed before and between."""
    inside, ids, texts = threading.Event(), [], []
    once = Once("gpu", on_deferred_failure="continue")

    def at_once():
        with pytest.raises(ValueError):
            register(once, failing(ValueError("at once"), []))

    def first():
        inside.set()
        until_asleep(ids[0])
        raise Odd("first")

    def register_first():
        once.call(first)

    once.call(at_once)
    register_first()
    once.call(at_once)
    register(once, failing(Odd("second"), []))

    def init():
        with pytest.raises(lazyonce.DeferredCallError, match="Odd: first") as caught:
            once.init()
        texts.append(str(caught.value))

    def wait():
        ids.append(threading.get_native_id())
        inside.wait()
        init()

    waiting = start_daemon(wait)
    while not ids:
        pass
    init()
    waiting.join()
    assert len(texts) == 2 and all("in register_first\n" in text and "in register\n" not in text for text in texts)


@pytest.mark.parametrize("policy", ["keep", "drop", "continue"])
@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_an_interrupt_passes_unwrapped_ends_the_drain_and_leaves_the_call_queued(interrupt, policy):
    seen, once = [], Once("gpu", on_deferred_failure=policy)
    once.call(lambda: seen.append("a"))
    once.call(failing(interrupt, seen))
    once.call(lambda: seen.append("b"))
    once.call(lambda: seen.append("c"))
    with pytest.raises(interrupt):
        once.init()
    assert seen == ["a"] and not once.is_initialized()
    assert once.init() and seen == ["a", "mended", "b", "c"]


@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_an_interrupt_of_the_initializer_passes_unwrapped(interrupt):
    seen = []
    once = Once("gpu", failing(interrupt, seen))
    with pytest.raises(interrupt):
        once.init()
    assert once.init() and seen == ["mended"]


@pytest.mark.parametrize("interrupt", INTERRUPTS)
def test_an_interrupt_behind_a_failure_wins(interrupt):
    once = Once("gpu", on_deferred_failure="continue")
    once.call(failing(Odd(), []))
    once.call(failing(interrupt, []))
    with pytest.raises(interrupt):
        once.init()
    assert once.init()


def test_a_callable_can_say_that_it_is_not_possible_now_or_here():
    for kind in (lazyonce.NotNow, lazyonce.BackendUnavailable):
        once, failure = Once("gpu", failing(kind("no driver"), [])), None
        with pytest.raises(kind, match="^no driver$") as caught:
            once.init()
        assert LIBRARY.lazy_last_error()[0].status == kind.status and caught.value.__cause__ is None
        assert once.init() and failure is None


def test_a_failure_inside_a_once_that_is_closed_meanwhile_is_the_cause():
    failure = Odd()
    once = Once("gpu")

    def fn():
        once.close()
        raise failure

    once.call(fn)
    with pytest.raises(lazyonce.ClosedError) as caught:
        once.init()
    assert caught.value.__cause__ is failure


def test_a_nested_failure_that_was_handled_is_not_taken_for_another():
    inner, outer, seen = Once("inner", failing(Odd("inner"), [])), Once("outer"), []

    def fn():
        with pytest.raises(Odd, match="inner"):
            inner.init()
        raise Odd("outer")

    outer.call(fn)
    with pytest.raises(lazyonce.DeferredCallError) as caught:
        outer.init()
    assert str(caught.value.__cause__) == "outer" and seen == []


def test_text_that_is_long_or_not_ascii_or_unprintable():
    class Unprintable(Exception):
        def __str__(self):
            raise ValueError

    for failure in (Odd("ü" * 5000), Odd("\0 \ud800"), Unprintable()):
        once = Once("gerät\u2122")
        once.call(failing(failure, []))
        with pytest.raises(lazyonce.DeferredCallError, match="gerät\u2122") as caught:
            once.init()
        assert caught.value.__cause__ is failure
