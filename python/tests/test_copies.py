"""What cannot be copied, pickled or initialized a second time: the copy would end what is the original's."""
import copy
import ctypes
import gc
import os
import pickle
import weakref

import pytest
from alone import alone

import lazyonce
from lazyonce import Once, Slot, _once
from lazyonce._library import LIBRARY

KINDS = {
    "Once": lambda: Once("gpu"), "named": lambda: lazyonce.named("copies"), "thread": lambda: Slot(int),
    "process": lambda: Slot(int, scope="process"), "ThreadState": lazyonce.capture,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_refused(kind):
    made = KINDS[kind]()
    for way in (copy.copy, copy.deepcopy, pickle.dumps, lambda it: copy.deepcopy({"inside": [it]})):
        with pytest.raises(TypeError, match="^cannot copy or pickle a (Once|Slot|ThreadState)$"):
            way(made)


def test_the_original_is_unharmed_by_the_attempt():
    once, slot, seen = Once("gpu"), Slot(lambda index: [index], scope="process"), []
    once.call(lambda: seen.append(1))
    value = slot.get()
    for each in (once, slot):
        with pytest.raises(TypeError):
            copy.copy(each)
    gc.collect()
    assert once.init() and seen == [1] and slot.get() is value


@pytest.mark.parametrize("kind, arguments", [
    ("Once", ("second",)), ("named", ("second",)), ("thread", (int,)), ("process", (int, "process")), ("ThreadState", ()),
])
def test_a_second_init_is_refused(kind, arguments):
    made = KINDS[kind]()
    with pytest.raises(TypeError, match="a second time"):
        made.__init__(*arguments)


def dumped():
    """What C says of all onces."""
    ours, theirs = os.pipe()
    dump = ctypes.CDLL(LIBRARY._name).lazy_dump
    dump(theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as said:
        return said.read()


@alone
def test_c_never_lists_storage_that_is_freed():
    once = Once("first", lambda: None)
    once.call(print)
    with pytest.raises(TypeError):
        once.__init__("second")
    gc.collect()
    taken = [(ctypes.c_uint64 * 4)(*[0x4141414141414141] * 4) for _ in range(1000)]
    assert b'"first"' in dumped() and b'"second"' not in dumped() and len(taken) == 1000


@alone
def test_the_storage_stays_where_a_del_comes_to_nothing():
    class Stubborn(Once):
        def __del__(self):
            pass

    once = Stubborn("stubborn", lambda: None)
    once.init()
    storage = once._storage
    address, gone = once._address, weakref.ref(once)
    del once, storage
    gc.collect()
    assert gone() is None and address in _once._storages and b'"stubborn"' in dumped()


def test_the_storage_goes_with_the_once():
    once = Once("gpu")
    address = once._address
    assert address in _once._storages
    del once
    gc.collect()
    assert address not in _once._storages
