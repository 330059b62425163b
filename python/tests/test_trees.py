"""lazyonce.torch.install_thread_state, with a module of that shape; then with PyTorch's own, where it is installed."""
import concurrent.futures
import importlib.util
import itertools
import threading

import pytest
import trees
from alone import alone
from child import run_threads

import lazyonce
import lazyonce.torch

_numbers = itertools.count()


@pytest.fixture
def module():
    module, user = trees.make("standin.trees%d" % next(_numbers))
    module.user = user
    yield module
    lazyonce.torch.uninstall(module)
    trees.drop(module)


def on_a_thread(body, *arguments):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(body, *arguments).result()


def test_stock_raises_on_a_hand_started_thread(module):
    with pytest.raises(AssertionError):
        on_a_thread(module.get_container, 0)


def finds_its_own(module):
    mine, seen = module.get_container(0), []

    def work():
        first = module.get_container(0)
        assert module.get_container(0) is first and module.get_container(1) is not first
        seen.append(first)

    run_threads(work, work, work)
    assert len({mine, *seen}) == 4 and module.get_container(0) is mine


def test_each_thread_finds_its_own(module):
    lazyonce.torch.install_thread_state(module)
    finds_its_own(module)


def finds_its_parent_s(module):
    def child(state):
        own = module.get_container(0)
        with state:
            lent = module.get_container(0)
        assert module.get_container(0) is own is not lent
        return lent

    def first_inside(state):
        with state:
            lent = module.get_container(0)
        assert module.get_container(0) is not lent
        return lent

    def parent():
        state = lazyonce.capture()  # before its own first use
        assert on_a_thread(child, state) is on_a_thread(first_inside, state) is module.get_container(0)
        return module.get_container(0)

    assert parent() is not on_a_thread(parent)


def test_inside_a_snapshot_it_finds_its_parent_s(module):
    lazyonce.torch.install_thread_state(module)
    finds_its_parent_s(module)


def test_the_locks_are_found_with_the_containers(module):
    lazyonce.torch.install_thread_state(module)
    state, local = lazyonce.capture(), module.local

    def work():
        own = module.get_obj(local, "tree_manager_locks")
        with state:
            return own, module.get_obj(local, "tree_manager_locks")

    own, lent = on_a_thread(work)
    assert own is not lent is local.tree_manager_locks and own[3] is own[3]
    assert type(own[3]) is type(lent[3]) is type(threading.Lock())


def test_a_thread_of_autograd_finds_those_that_it_works_for_at_the_moment(module):
    lazyonce.torch.install_thread_state(module)
    storage = module.torch._C
    mine, others = module.get_container(0), {name: make() for name, make in lazyonce._trees.KINDS.items()}

    def works_for(stored):
        storage.lend(stored)
        return module.get_container(0)

    with concurrent.futures.ThreadPoolExecutor(1) as device:
        assert device.submit(works_for, vars(storage.held)).result() is mine
        assert device.submit(works_for, others).result() is others["tree_manager_containers"][0] is not mine


def test_uninstall_restores_it_everywhere(module):
    own = module.get_obj
    lazyonce.torch.install_thread_state(module)
    installed = module.get_obj
    assert module.user.get_obj is installed is not own
    lazyonce.torch.install_thread_state(module)
    assert module.get_obj is installed
    on_a_thread(module.get_container, 0)
    mine = module.get_container(0)
    lazyonce.torch.uninstall(module)
    assert module.get_obj is module.user.get_obj is own and module.get_container(0) is mine
    with pytest.raises(AssertionError):
        on_a_thread(module.get_container, 0)
    lazyonce.capture()
    lazyonce.torch.uninstall(module)


def test_another_local_and_other_names_are_the_module_s_own_business(module):
    lazyonce.torch.install_thread_state(module)
    other = threading.local()
    other.tree_manager_containers = here = {}
    module.local.else_where = 7
    assert module.get_obj(other, "tree_manager_containers") is here and module.get_obj(module.local, "else_where") == 7
    with pytest.raises(AssertionError):
        on_a_thread(module.get_obj, module.local, "else_where")


@alone
def with_pytorch():
    import torch._inductor.cudagraph_trees as module
    own = module.get_obj
    with pytest.raises(AssertionError):
        on_a_thread(module.get_container, 0)
    lazyonce.torch.install_thread_state(module)
    finds_its_own(module)
    finds_its_parent_s(module)
    lazyonce.torch.uninstall(module)
    assert module.get_obj is own
    with pytest.raises(AssertionError):
        on_a_thread(module.get_container, 0)


def test_with_pytorch():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    with_pytorch()
