"""A module of the shape of torch._inductor.cudagraph_trees: for the tests of lazyonce.torch.install_thread_state."""
import sys
import types

SOURCE = '''
import threading
from collections import defaultdict

local = threading.local()
local.tree_manager_containers = {}
local.tree_manager_locks = defaultdict(threading.Lock)
torch._C._stash_obj_in_tls("tree_manager_containers", local.tree_manager_containers)
torch._C._stash_obj_in_tls("tree_manager_locks", local.tree_manager_locks)

class TreeManagerContainer:
    def __init__(self, device_index):
        self.device_index = device_index

def get_obj(local, attr_name):
    if hasattr(local, attr_name):
        return getattr(local, attr_name)
    assert torch._C._is_key_in_tls(attr_name)
    return torch._C._get_obj_in_tls(attr_name)

def get_container(device_index):
    container_dict = get_obj(local, "tree_manager_containers")
    lock = get_obj(local, "tree_manager_locks")[device_index]
    with lock:
        if device_index not in container_dict:
            container_dict[device_index] = TreeManagerContainer(device_index)
        return container_dict[device_index]
'''

STORAGE = '''
import threading

held = threading.local()

def _is_key_in_tls(key):
    return key in vars(held)

def _get_obj_in_tls(key):
    return vars(held)[key]

def _stash_obj_in_tls(key, value):
    vars(held)[key] = value

def lend(of):
    """What autograd does for a thread that works for another."""
    vars(held).update(of)
'''


def make(name):
    """Such a module, and another that has imported its `get_obj` by value."""
    module, storage, user = types.ModuleType(name), types.ModuleType(name + "._C"), types.ModuleType(name + ".user")
    exec(compile(STORAGE, name + "._C.py", "exec"), vars(storage))
    module.torch = types.SimpleNamespace(_C=storage)
    exec(compile(SOURCE, name + ".py", "exec"), vars(module))
    user.get_obj = module.get_obj
    sys.modules[name], sys.modules[user.__name__] = module, user
    return module, user


def drop(module):
    """Takes both out again."""
    del sys.modules[module.__name__], sys.modules[module.__name__ + ".user"]
