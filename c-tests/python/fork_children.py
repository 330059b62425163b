#!/usr/bin/env python3
"""What children of a Python process find: os.fork and multiprocessing with the fork method, under each fork policy, with and
without the interpreter as the host, while another thread initializes. $LAZYONCE_LIBRARY names the library. Prints "done".
"""
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads is what this is about
OK, QUEUED, E_FORKED = 0, 1, -6
KEEP, POISON, RESET = 0, 1, 2
FRESH, READY, FORKED = 0, 4, 5
FN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


class Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("initialize", FN), ("ctx", ctypes.c_void_p),
                ("prepare", ctypes.c_void_p), ("can_init", ctypes.c_void_p), ("host", ctypes.c_void_p),
                ("on_failure", ctypes.c_uint32), ("on_deferred_failure", ctypes.c_uint32), ("on_fork", ctypes.c_uint32),
                ("contended", ctypes.c_uint32), ("timeout_ns", ctypes.c_uint64)]


class Error(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("status", ctypes.c_int32), ("code", ctypes.c_int32), ("message", ctypes.c_char_p)]


lazy = ctypes.PyDLL(os.environ["LAZYONCE_LIBRARY"])
lazy.lazy_last_error.restype = ctypes.POINTER(Error)
lazy.lazy_host_cpython.restype = ctypes.c_void_p


def check(condition, *seen):
    if not condition:
        raise AssertionError("line %d: %r" % (sys._getframe(1).f_lineno, seen))


class Once:
    def __init__(self, policy, host):
        self.memory, self.starts, self.ran = (ctypes.c_uint64 * 4)(), 0, []
        self.at = ctypes.byref(self.memory)
        self.inside, self.go_on, self.is_held, self.forks = threading.Event(), threading.Event(), False, False
        self.child = -1
        self.parent = os.getpid()
        self.kept = [FN(self.start), FN(lambda _: self.ran.append("queued") or 0), FN(lambda _: self.ran.append("now") or 0)]
        config = Config(size=ctypes.sizeof(Config), name=b"python", initialize=self.kept[0], on_fork=policy,
                        host=lazy.lazy_host_cpython() if host else None)
        status = lazy.lazy_once_configure(self.at, ctypes.byref(config))
        check(status == OK, status, lazy.lazy_last_error() and lazy.lazy_last_error().contents.message)
        check(lazy.lazy_once_call(self.at, self.kept[1], None) == QUEUED)

    def start(self, _):
        self.starts += 1
        if self.is_held and os.getpid() == self.parent:
            self.inside.set()
            self.go_on.wait()
        if self.forks:
            self.forks = False
            self.child = os.fork()
        return 0

    def init(self):
        return lazy.lazy_once_init(self.at)

    def call(self):
        return lazy.lazy_once_call(self.at, self.kept[2], None)

    def is_initialized(self):
        return bool(lazy.lazy_once_is_initialized(self.at) & 0xff)


once = None


def look(policy, was_ready):
    """In the child; what it finds wrong comes out as text."""
    try:
        signal.alarm(20)
        kept = policy == KEEP and was_ready
        check(once.is_initialized() == kept)
        if policy == POISON:
            check(once.init() == E_FORKED and once.call() == E_FORKED)
            message = lazy.lazy_last_error().contents.message.decode()
            check("python" in message and str(once.parent) in message, message)
            check(lazy.lazy_once_reset(once.at) == OK)
        starts, ran = once.starts, len(once.ran)
        check(once.init() == OK and once.is_initialized())
        check(once.starts == starts + (not kept), once.starts, starts)
        check(len(once.ran) == ran + (not was_ready), once.ran)  # what was queued runs here, unless it ran in the parent
        check(once.call() == OK)
        return "right"
    except BaseException as failure:
        return repr(failure)


def by_os_fork(policy, was_ready):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, look(policy, was_ready).encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as said:
        text = said.read()
    check(os.waitpid(child, 0)[1] == 0 and text == "right", text)


def by_multiprocessing(policy, was_ready):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        check(pool.starmap(look_once, [(policy, was_ready)] * 2, chunksize=1) == ["right"] * 2)


def by_own_attempt(policy, host):
    """The initializer itself forks: what it is inside of goes on in the child under KEEP, and is void otherwise."""
    global once
    once = Once(policy, host)
    once.forks = True
    status = once.init()
    if once.child == 0:
        signal.alarm(20)
        wanted = OK if policy == KEEP else E_FORKED
        again = OK if policy != POISON else E_FORKED
        os._exit(0 if status == wanted and once.init() == again else 1)
    check(status == OK and once.is_initialized() and once.starts == 1)
    check(os.waitpid(once.child, 0)[1] == 0)
    check(lazy.lazy_once_close(once.at) == OK)


seen = None


def look_once(policy, was_ready):
    """A worker may be given both."""
    global seen
    seen = seen or look(policy, was_ready)
    return seen


def main():
    global once
    in_handlers = []
    os.register_at_fork(**{half: lambda: in_handlers.append(once.is_initialized())
                           for half in ("before", "after_in_parent", "after_in_child")})
    for host in (False, True):
        for policy in (KEEP, POISON, RESET):
            by_own_attempt(policy, host)
            for way in (by_os_fork, by_multiprocessing):
                once = Once(policy, host)
                once.is_held = True
                thread = threading.Thread(target=once.init)
                thread.start()
                once.inside.wait()
                way(policy, False)
                once.go_on.set()
                thread.join()
                check(once.is_initialized() and once.starts == 1 and once.ran == ["queued"], once.ran)
                way(policy, True)
                check(once.is_initialized() and once.starts == 1)
                check(lazy.lazy_once_close(once.at) == OK)
    check(True in in_handlers and False in in_handlers)
    print("done")


if __name__ == "__main__":
    signal.alarm(60)
    main()
