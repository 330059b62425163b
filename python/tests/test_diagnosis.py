"""What the dump tells of Python's threads: in which line each waits, or makes a value."""
import sys
import tempfile
import threading
import time

from alone import alone, python
from child import start_daemon

from lazyonce import Once, Slot
from lazyonce._library import LIBRARY


def dumped():
    with tempfile.TemporaryFile() as file:
        LIBRARY.lazy_dump(file.fileno())
        file.seek(0)
        return file.read().decode()


def line_of(thread):
    """The dump's line about it, once it is there."""
    begin = "thread %d has " % thread.native_id
    while True:
        for line in dumped().splitlines():
            if line.startswith(begin):
                return line
        time.sleep(0)


class Hold:
    """A callable that stays inside until `go`."""

    def __init__(self):
        self.inside, self.go = threading.Event(), threading.Event()

    def __call__(self, *arguments):
        self.inside.set()
        self.go.wait()


def here(offset=0):
    frame = sys._getframe(1)
    return "%s:%d (%s)" % (__file__, frame.f_lineno + offset, frame.f_code.co_name)


@alone
def test_a_factory_of_either_scope_is_told_with_its_index_and_its_line():
    for scope in "thread", "process":
        hold = Hold()
        slot = Slot(hold, scope)
        places = []

        def work():
            places.append(here(1))
            slot.get(4)

        thread = start_daemon(work)
        assert hold.inside.wait(60)
        line = line_of(thread)
        assert 'been inside the factory for index 4 of slot "Hold" for ' in line and line.endswith(", called at " + places[0])
        assert "thread %d makes the one at index 4" % thread.native_id in dumped()
        hold.go.set()
        thread.join()


@alone
def test_a_wait_to_reset_or_to_cancel_is_told_with_its_line():
    places = []

    def resets(once, owner):
        places.append(here(1))
        once.reset()

    def cancels(once, owner):
        places.append(here(1))
        once.cancel_owner(owner)

    for waits in resets, cancels:
        hold, once, owner = Hold(), Once("held"), object()
        once.call(hold, owner=owner)
        runner = start_daemon(once.init)
        assert hold.inside.wait(60)
        waiter = start_daemon(lambda: waits(once, owner))
        line = line_of(waiter)
        assert " has waited " in line and line.endswith(", called at " + places[-1])
        hold.go.set()
        runner.join()
        waiter.join()


CALLS = """
import atexit, _thread, lazyonce
once, slot, done = lazyonce.Once("gpu", lambda: print("init")), lazyonce.Slot(lambda index: print("made", index)), _thread.allocate_lock()
once.call(done.release)
done.acquire()
_thread.start_new_thread(once.init, ())
done.acquire()
once.reset()
atexit.register(once.cancel_owner, once)
atexit.register(once.reset)
atexit.register(once.init)
atexit.register(once.call, lambda: print("ran"))
atexit.register(slot.get)
atexit.register(lazyonce.Slot(lambda index: print("shared", index), "process").get, 2)
"""


def test_c_may_call_where_no_frame_of_python_is():
    assert python("-c", CALLS).splitlines() == ["init", "shared 2", "made 0", "init", "ran"]
