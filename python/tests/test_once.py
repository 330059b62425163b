"""The four outcomes, and what a request can say about itself."""
import ctypes
import math

import pytest
from alone import alone

import lazyonce
from lazyonce import Once
from lazyonce._library import LIBRARY, Info


def test_calls_are_queued_until_the_init_and_run_at_once_after_it():
    seen = []
    once = Once("gpu", lambda: seen.append("start"))
    assert once.call(lambda: seen.append("a")) is False
    assert once.call(lambda: seen.append("b")) is False
    assert not once.is_initialized() and seen == []
    assert once.init() is True
    assert once.is_initialized() and seen == ["start", "a", "b"]
    assert once.call(lambda: seen.append("c")) is True
    assert once.init() is True and seen == ["start", "a", "b", "c"]


def test_inside_the_initializer_a_call_is_queued_and_an_init_is_answered():
    seen = []

    def start():
        seen.append((once.init(), once.is_initializing(), once.is_initialized(), once.call(lambda: seen.append("queued"))))
        seen.append("started")

    once = Once("gpu", start)
    assert once.init()
    assert seen == [(False, True, False, False), "started", "queued"]
    assert not once.is_initializing()


def test_inside_a_queued_call_another_runs_at_once_depth_first():
    seen = []
    once = Once("gpu")

    def outer():
        seen.append("outer")
        seen.append(once.call(lambda: seen.append(once.call(lambda: seen.append("inner")))))
        seen.append((once.init(), once.is_initializing(), once.is_initialized()))

    once.call(outer)
    once.call(lambda: seen.append("next"))
    assert once.init()
    assert seen == ["outer", "inner", True, True, (False, True, False), "next"]


def test_phases_run_in_order_and_each_first_in_first_out():
    seen = []
    once = Once("gpu")
    for name, phase in (("seed", 1000), ("a", 0), ("early", -5), ("b", 0)):
        once.call(lambda name=name: seen.append(name), phase=phase)
    once.init()
    assert seen == ["early", "a", "b", "seed"]


class Colliding:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return 7

    def __eq__(self, other):
        return self.name == other.name


def test_an_equal_key_replaces_and_takes_the_tail():
    seen = []
    once = Once("gpu")
    keys = {"a": "seed", "b": None, "c": Colliding("x"), "d": Colliding("y"), "e": ("seed", 0), "f": "seed"}
    for name, key in keys.items():
        once.call(lambda name=name: seen.append(name), key=key)
    once.call(lambda: seen.append("g"), key=Colliding("x"))
    once.init()
    assert seen == ["b", "d", "e", "f", "g"]


def test_an_owner_is_known_by_identity():
    class Equal:
        __hash__ = None

        def __eq__(self, other):
            return True

    seen, mine, other = [], Equal(), Equal()
    once = Once("gpu")
    for owner in (mine, other, mine, None):
        once.call(lambda owner=owner: seen.append(owner), owner=owner)
    assert once.cancel_owner(mine) == 2 and once.cancel_owner(mine) == 0
    once.init()
    assert [each is other for each in seen] == [True, False]


def test_reset_makes_it_fresh_and_keeps_the_queue():
    seen = []
    once = Once("gpu", lambda: seen.append("start"))
    once.init()
    once.reset()
    assert not once.is_initialized() and once.call(lambda: seen.append("a")) is False
    once.reset()
    once.init()
    assert seen == ["start", "start", "a"]


def test_reset_from_inside_is_refused():
    once = Once("gpu", lambda: once.reset())
    with pytest.raises(lazyonce.LazyError, match="inside"):
        once.init()


def test_a_reset_from_c_is_seen():
    once = Once("gpu")
    once.init()
    LIBRARY.lazy_once_reset_slow(once._address, None)
    assert not once.is_initialized() and once.call(print) is False


def test_a_closed_once_stays_closed():
    once = Once("gpu")
    once.call(print)
    once.close()
    once.close()
    for use in (once.init, lambda: once.call(print), once.reset):
        with pytest.raises(lazyonce.ClosedError, match="closed"):
            use()
    assert not once.is_initialized()


@alone
def test_a_named_once_is_the_same_for_everybody():
    seen, run = [], ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(lambda _: seen.append("from C") or 0)
    once = lazyonce.named("cuda")
    assert lazyonce.named("cuda") is once and lazyonce.named("xpu") is not once
    address = LIBRARY.lazy_once_named(b"cuda")
    call = ctypes.CDLL(LIBRARY._name).lazy_once_call
    assert call(ctypes.c_void_p(address), run, None) == 1
    once.call(lambda: seen.append("from Python"))
    assert once.init() and seen == ["from C", "from Python"]
    with pytest.raises(lazyonce.LazyError, match="whole process"):
        once.close()
    with pytest.raises(lazyonce.LazyError):
        lazyonce.named("")


@alone
def test_the_default_once():
    seen = []
    assert lazyonce.lazy_call(lambda: seen.append("a"), phase=1) is False
    assert lazyonce.lazy_call(lambda: seen.append("b")) is False
    assert not lazyonce.is_initialized() and not ctypes.CDLL(LIBRARY._name).is_initialized()
    assert lazyonce.lazy_init() is True and lazyonce.is_initialized() and seen == ["b", "a"]
    assert ctypes.CDLL(LIBRARY._name).is_initialized()
    assert lazyonce.lazy_call(lambda: seen.append("c")) is True and seen[-1] == "c"


@pytest.mark.parametrize("wrong", [
    dict(on_failure="often"), dict(on_deferred_failure=0), dict(on_fork=["keep"]), dict(contended=None), dict(timeout=-1),
    dict(timeout=math.nan),
])
def test_a_wrong_option_is_a_value_error(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Once("gpu", **wrong)


def test_wrong_arguments_are_told_before_anything_is_queued():
    once = Once("gpu", print)
    for error, use in (
        (TypeError, lambda: once.call(7)), (TypeError, lambda: once.call(print, key=[])), (ValueError, lambda: once.init(-1)),
        (ValueError, lambda: once.call(print, phase=2**31)), (ValueError, lambda: once.cancel_owner(None)),
        (TypeError, lambda: Once("gpu", 7)), (TypeError, lambda: once.call(print, "key")),
    ):
        with pytest.raises(error):
            use()


def test_a_name_is_a_str_without_a_nul():
    for make in (Once, lazyonce.named):
        for wrong in (3, None, b"gpu", ["gpu"]):
            with pytest.raises(TypeError, match="^name must be a str, not "):
                make(wrong)
        with pytest.raises(ValueError, match="^name must not contain a NUL"):
            make("a\0b")


class Number:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def test_a_phase_is_any_whole_number():
    seen, once = [], Once("gpu")
    for phase in (Number(2), 1, Number(-3)):
        once.call(lambda phase=phase: seen.append(phase if phase == 1 else phase.value), phase=phase)
    once.init()
    assert seen == [-3, 1, 2]
    for wrong in (0.5, "0", None):
        with pytest.raises(TypeError):
            Once("gpu").call(print, phase=wrong)


@pytest.mark.parametrize("timeout", [None, 30])
def test_the_place_of_an_attempt_is_the_line_that_called_init(timeout):
    def start():
        once.init(timeout)

    once = Once("placed", lambda: None)
    start()
    info = Info(ctypes.sizeof(Info))
    LIBRARY.lazy_once_info(once._address, info)
    site = info.init_site.file.decode(), info.init_site.line, info.init_site.function.decode()
    assert site == (__file__, start.__code__.co_firstlineno + 1, "start")
