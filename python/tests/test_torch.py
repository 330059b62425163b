"""lazyonce.torch, with stand-ins of the modules' shape; with the real ones in test_real_torch.py."""
import _thread
import ctypes
import gc
import os
import pickle
import signal
import sys
import threading

import pytest
import standin
from alone import alone
from child import run_threads, start_daemon, until_asleep
from standin import Device

import lazyonce
import lazyonce.torch
from lazyonce._library import LIBRARY, Info


def test_calls_are_queued_and_run_once_it_is_initialized(device):
    device.install()
    assert device.module._lazy_call(device.note("a")) is None and device.random.lazy_call(device.note("b")) is None
    assert not device.module.is_initialized() and device.seen == [] and not device.module._initialized
    device.module.init()
    assert device.seen == ["a", "b"] and device.module.is_initialized() and device.random.is_initialized()
    assert device.module._initialized and device.once.is_initialized() and len(device.module.starts) == 1
    assert device.module.default_generators == ("generator",)
    device.module._lazy_call(device.note("c"))
    assert device.seen == ["a", "b", "c"]


@alone
def test_a_callback_that_comes_back_does_not_hang_before_or_after():
    """The two hangs of PyTorch's pull request 182948, with the module's own functions as the fault."""
    device = Device()
    device.install()

    def outer():
        device.module._lazy_call(lambda: device.module._lazy_call(device.note("inner")))
        device.module._lazy_init()
        device.seen.append("outer")

    device.module._lazy_call(outer)
    device.module._lazy_init()
    device.module._lazy_call(outer)
    assert device.seen == ["inner", "outer"] * 2


def test_install_twice_is_one_and_uninstall_twice_too(device):
    own = {name: getattr(device.module, name) for name in lazyonce.torch.FUNCTIONS}
    tls = device.module._tls
    lazyonce.torch.uninstall(device.module)
    device.install()
    ours = device.module._lazy_call
    device.install()
    assert device.module._lazy_call is ours and device.module._lazy_call is not own["_lazy_call"]
    assert device.module.is_initialized.__doc__ == own["is_initialized"].__doc__
    device.random.late = device.module._lazy_init
    for _ in range(2):
        lazyonce.torch.uninstall(device.module)
        assert all(getattr(device.module, name) is function for name, function in own.items())
    assert device.random.lazy_call is own["_lazy_call"] and device.random.late is own["_lazy_init"]
    assert device.module._tls is tls


def test_what_is_queued_is_taken_over_with_order_seeds_and_tracebacks(device):
    def fail():
        raise ValueError("bad state")

    module = device.module
    module._lazy_call(device.note("seed 1"), seed=True)
    module._lazy_call(device.note("a"))
    module._lazy_call(device.note("all"), seed_all=True)
    module._lazy_call(fail)
    here = "".join(module._queued_calls[1][1]).rstrip()
    module._lazy_call(device.note("b"))
    module._lazy_call(device.note("seed 2"), seed=True)
    device.install()
    assert module._queued_calls == []
    with pytest.raises(module.DeferredStandinCallError) as caught:
        module._lazy_init()
    assert str(caught.value).endswith(here) and "in fail" not in here
    fail.__code__ = (lambda: None).__code__
    module._lazy_call(device.note("c"))
    module._lazy_init()
    assert device.seen == ["a", "b", "c", "all", "seed 2"]


def test_of_seeds_only_the_latest_counts_and_they_run_last(device):
    device.install()
    for number in range(1000):
        device.module._lazy_call(device.note(("all", number)), seed_all=True)
        device.module._lazy_call(device.note(("one", number)), seed=True)
    device.module._lazy_call(device.note("plain"))
    device.module._lazy_call(device.note("all"), seed_all=True)
    device.module.init()
    assert device.seen == ["plain", ("one", 999), "all"]


def test_a_state_that_is_initialized_is_taken_over_and_handed_back(device):
    device.module._lazy_call(device.note("a"))
    device.module._lazy_init()
    device.install()
    assert device.module.is_initialized() and device.once.is_initialized() and len(device.module.starts) == 1
    device.module._lazy_call(device.note("b"))
    device.module._lazy_init()
    assert device.seen == ["a", "b"] and len(device.module.starts) == 1
    lazyonce.torch.uninstall(device.module)
    assert device.module.is_initialized() and not device.once.is_initialized()


def test_what_has_not_run_is_handed_back(device):
    module = device.module
    device.install()
    module._lazy_call(device.note("all"), seed_all=True)
    module._lazy_call(device.note("seed"), seed=True)
    module._lazy_call(device.note("a"))
    module._lazy_call(device.note("b"))
    line = sys._getframe().f_lineno - 1
    module._lazy_call(device.note("newer"), seed_all=True)
    lazyonce.torch.uninstall(module)
    assert not module.is_initialized() and device.seen == [] and len(module._queued_calls) == 2
    assert 'test_torch.py", line %d, in test_what' % line in module._queued_calls[1][1][-1]
    module._lazy_init()
    assert device.seen == ["a", "b", "seed", "newer"]
    lazyonce.torch.install(module)
    assert module.is_initialized()


def test_after_a_failed_drain_it_goes_on_where_it_stopped_and_can_be_handed_back_there(device):
    module, fail = device.module, [ValueError("bad"), ValueError("bad")]
    device.install()
    module._lazy_call(device.note("a"))
    module._lazy_call(lambda: device.seen.append("mended") if not fail else (_ for _ in ()).throw(fail.pop()))
    module._lazy_call(device.note("b"))
    for _ in range(2):
        with pytest.raises(lazyonce.DeferredCallError):
            module._lazy_init()
        assert not module.is_initialized() and not module._initialized and module.device_count() == 0
    assert device.seen == ["a"] and len(module.starts) == 1
    lazyonce.torch.uninstall(module)
    module._lazy_init()
    assert device.seen == ["a", "mended", "b"] and module._initialized


def test_a_deferred_failure_is_the_module_s_error_and_ours(device):
    device.install()
    device.module._lazy_call(lambda: 1 / 0)
    with pytest.raises(device.module.DeferredStandinCallError) as caught:
        device.module._lazy_init()
    assert isinstance(caught.value, lazyonce.DeferredCallError) and type(caught.value).__name__ == "DeferredStandinCallError"
    assert isinstance(caught.value.__cause__, ZeroDivisionError) and caught.value.status == -4
    assert str(caught.value).endswith("device.module._lazy_call(lambda: 1 / 0)")
    assert "test_torch.py:" in str(caught.value).split("\n")[0]
    device.module.DeferredStandinCallError.__module__ = device.module.__name__
    assert "ZeroDivisionError" in str(pickle.loads(pickle.dumps(caught.value)))


def test_a_module_without_an_error_of_its_own_raises_ours(device):
    del device.module.DeferredStandinCallError
    device.install()
    device.module._lazy_call(lambda: 1 / 0)
    with pytest.raises(lazyonce.DeferredCallError):
        device.module._lazy_init()


def test_native_failures_come_out_as_themselves(device):
    device.module.compiled = False
    device.install()
    device.module._lazy_call(device.note("a"))
    for _ in range(2):
        with pytest.raises(AssertionError, match="not compiled"):
            device.module._lazy_init()
    device.module.compiled = True
    device.module._lazy_init()
    assert device.seen == ["a"]


def test_an_exception_of_a_call_that_runs_at_once_comes_out_as_itself(device):
    device.install()
    device.module._lazy_init()
    with pytest.raises(ZeroDivisionError):
        device.module._lazy_call(lambda: 1 / 0)


@pytest.mark.parametrize("returns", [False, True])
def test_what_lazy_call_returns_is_kept(returns):
    device = Device(returns=returns)
    device.install()
    got = []
    device.module._lazy_call(lambda: got.append(device.module._lazy_call(lambda: 5)))
    device.module._lazy_init()
    got.append(device.module._lazy_call(lambda: 7))
    assert got == ([5, 7] if returns else [None, None])
    lazyonce.torch.uninstall(device.module)


def test_the_marker_of_the_thread_that_is_inside(device):
    module, seen = device.module, device.seen
    module.on_start.append(lambda: seen.append((module.device_count(), module.is_initialized())))
    device.install()
    module._lazy_call(lambda: seen.append((module.device_count(), module.is_initialized(), module._initialized)))
    module._lazy_call(lambda: run_threads(lambda: seen.append(module.device_count())))
    module._lazy_init()
    assert seen == [(0, False), (1, False, False), 0] and module.device_count() == 1


def test_a_call_from_inside_the_native_part_is_queued(device):
    device.module.on_start += [device.module._lazy_init, lambda: device.module._lazy_call(device.note("a")), device.note("native")]
    device.install()
    device.module.on_start[0] = device.module._lazy_init
    device.module._lazy_init()
    assert device.seen == ["native", "a"]


@alone
def test_threads_wait_and_run_their_own_calls():
    device, inside, ids = Device(), threading.Event(), []

    def slow():
        inside.set()
        while not ids:
            pass
        until_asleep(ids[0])

    def other():
        inside.wait()
        ids.append(threading.get_native_id())
        device.module._lazy_call(lambda: device.seen.append(threading.get_native_id() == ids[0]))

    device.install()
    device.module._lazy_call(slow)
    first = start_daemon(device.module._lazy_init)
    other()
    first.join()
    assert device.seen == [True]


@alone
def test_a_forked_child_is_told_so_in_the_module_s_words():
    device = Device()
    device.install()
    device.module._lazy_init()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        device.module.bad_fork = True  # as PyTorch's handler of forks does
        assert not device.module.is_initialized()
        device.module._lazy_call(device.note("never"))
        with pytest.raises(RuntimeError, match="forked subprocess"):
            device.module._lazy_init()
        assert device.seen == []
        lazyonce.torch.uninstall(device.module)
        assert not device.module.is_initialized() and len(device.module._queued_calls) == 1
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_what_was_put_into_the_module_s_queue_past_its_function_runs_too(device):
    device.install()
    device.module._lazy_call(device.note("a"))
    device.module._queued_calls.append((device.note("b"), ["  somewhere\n"]))
    device.module._lazy_init()
    assert device.seen == ["a", "b"] and device.module._queued_calls == []


def test_a_function_that_somebody_kept_is_the_module_s_again_after_uninstall(device):
    device.install()
    kept = [getattr(device.module, name) for name in lazyonce.torch.FUNCTIONS]
    lazyonce.torch.uninstall(device.module)
    lazy_call, lazy_init, is_initialized = kept
    lazy_call(device.note("a"))
    assert not is_initialized() and len(device.module._queued_calls) == 1
    lazy_init()
    assert is_initialized() and device.module._initialized and device.seen == ["a"] and not device.once.is_initialized()


def test_a_second_module_of_the_same_last_name_is_refused_and_the_first_unharmed(device):
    device.install()
    other, _ = standin.make("elsewhere." + device.name)
    with pytest.raises(lazyonce.LazyError, match=device.name):
        lazyonce.torch.install(other)
    gc.collect()
    device.module._lazy_init()
    assert len(device.module.starts) == 1 and not other.starts


def place_of(failure):
    """The line of the text in which stands who has handed it in."""
    return str(failure).split("\n")[0]


def test_what_is_taken_over_was_handed_in_where_its_traceback_says(device):
    module = device.module

    def hand_in(depth):
        hand_in(depth - 1) if depth else module._lazy_call(lambda: 1 / 0, seed=is_seed)

    for is_seed in (False, True):
        hand_in(9)
        device.install()
        with pytest.raises(lazyonce.DeferredCallError) as caught:
            module._lazy_init()
        assert "by %s:%d (hand_in) failed" % (__file__, hand_in.__code__.co_firstlineno + 1) in place_of(caught.value)
        lazyonce.torch.uninstall(module)
        module._queued_calls.clear()


def test_a_traceback_that_names_no_place(device):
    for stack in ([], ["  somewhere\n"]):
        device.module._queued_calls[:] = [(lambda: 1 / 0, stack)]
        device.install()
        with pytest.raises(lazyonce.DeferredCallError, match="by _queued_calls in standin.%s failed" % device.name):
            device.module._lazy_init()
        lazyonce.torch.uninstall(device.module)


def test_the_installation_s_own_call_is_called_that(device):
    sites = []

    def look():
        info = Info(ctypes.sizeof(Info))
        LIBRARY.lazy_once_info(device.once._address, info)
        sites.append((info.running.file, info.running.function))

    device.install()
    installation = lazyonce.torch._installed[device.module]
    publish, installation.publish = installation.publish, lambda: (look(), publish())
    device.module._lazy_init()
    assert sites == [(device.module.__name__.encode(), b"lazyonce.torch.install")] and device.module._initialized


def test_what_was_initialized_before_was_started_by_who_installs(device):
    device.module._lazy_init()
    device.install()
    info = Info(ctypes.sizeof(Info))
    LIBRARY.lazy_once_info(device.once._address, info)
    assert (info.init_site.file, info.init_site.function) == (standin.__file__.encode(), b"install")


@alone
def test_a_thread_that_has_no_other_frame():
    device, over = Device(), threading.Event()
    device.install()
    device.module._lazy_call(over.set)
    _thread.start_new_thread(device.module._lazy_call, (device.note("a"),))
    while len(lazyonce.torch._installed[device.module].queue) < 2:
        pass
    _thread.start_new_thread(device.module._lazy_init, ())
    over.wait()
    device.module._lazy_init()
    assert device.seen == ["a"]
