"""lazyonce.torch where it is refused, and beside others who use the same once."""
import ctypes
import os
import threading
import types

import pytest
import trees

import lazyonce
import lazyonce.torch
from lazyonce._library import LIBRARY, Info


def unchanged(module):
    """Remembers what a module has; tells whether that is still so."""
    before = dict(vars(module))
    return lambda: vars(module) == before


@pytest.mark.parametrize("missing", ["_lazy_call", "_lazy_init", "is_initialized", "_queued_calls", "_initialized"])
def test_a_module_that_lacks_something_is_a_type_error_that_names_it(device, missing):
    delattr(device.module, missing)
    same = unchanged(device.module)
    with pytest.raises(TypeError, match="has no %s$" % missing):
        device.install()
    assert same()


def test_all_that_is_missing_is_named_at_once(device):
    with pytest.raises(TypeError, match="os is not .* has no _lazy_call, _lazy_init, is_initialized, _queued_calls, _initialized"):
        lazyonce.torch.install(os)
    device.module._lazy_init = print
    with pytest.raises(TypeError, match="_lazy_init, which is no function"):
        device.install()


def test_a_seed_tracker_of_another_shape(device):
    device.module._lazy_seed_tracker = types.SimpleNamespace(get_calls=list, manual_seed_cb=None)
    same = unchanged(device.module)
    with pytest.raises(TypeError, match="_lazy_seed_tracker has no queue_seed, queue_seed_all"):
        device.install()
    assert same()


@pytest.mark.parametrize("wrong", [5, None, "torch.cuda", []])
def test_what_is_no_module(wrong):
    for install in (lazyonce.torch.install, lazyonce.torch.install_thread_state):
        with pytest.raises(TypeError, match="takes a module"):
            install(wrong)


@pytest.mark.parametrize("missing", ["get_obj", "local"])
def test_a_module_without_per_thread_state(missing):
    module, _ = trees.make("standin.lacking_" + missing)
    try:
        delattr(module, missing)
        same = unchanged(module)
        with pytest.raises(TypeError, match="has no %s$" % missing):
            lazyonce.torch.install_thread_state(module)
        assert same()
    finally:
        trees.drop(module)


def test_an_uninstall_from_inside_is_refused_and_changes_nothing(device):
    refused = []

    def inside():
        same = unchanged(device.module)
        with pytest.raises(lazyonce.LazyError) as caught:
            lazyonce.torch.uninstall(device.module)
        refused.append((caught.value.status, same()))

    device.install()
    device.module._lazy_call(inside)
    device.module._lazy_call(device.note("a"))
    device.module._lazy_call(device.note("seed"), seed=True)
    device.module._lazy_init()
    assert refused == [(-1, True)] and device.seen == ["a", "seed"] and device.module.is_initialized()
    assert len(device.module.starts) == 1 and device.module._queued_calls == []


@pytest.mark.parametrize("kind", ["seed", "seed_all"])
def test_a_key_of_others_on_the_same_once_replaces_no_seed(device, kind):
    device.install()
    device.module._lazy_call(device.note("module"), **{kind: True})
    device.once.call(device.note("mine"), key=kind, phase=1000)
    device.module._lazy_init()
    assert device.seen == ["module", "mine"]


def test_a_key_of_others_does_not_keep_the_module_s_flag_down(device):
    device.install()
    device.module._lazy_call(lambda: device.once.call(device.note("mine"), key="publish"))
    device.module._lazy_init()
    assert device.seen == ["mine"] and device.module._initialized


def test_an_error_names_the_caller_of_lazy_init(device):
    """The line of who called the module's function, not one of the package."""
    device.install()

    def start():
        device.module._lazy_init()

    inside, over = threading.Event(), threading.Event()
    device.module._lazy_call(lambda: (inside.set(), over.wait()))
    other = threading.Thread(target=start)
    other.start()
    inside.wait()
    info = Info(ctypes.sizeof(Info))
    LIBRARY.lazy_once_info(device.once._address, info)
    site = info.init_site.file.decode(), info.init_site.line, info.init_site.function.decode()
    over.set()
    other.join()
    assert site == (__file__, start.__code__.co_firstlineno + 1, "start")
