"""The rows with ctypes alone: PyDLL calls with the GIL held, CDLL lets it go."""
import ctypes
import gc
import os
import signal
import sys
import threading
import time

from child import AT_EXIT, FAIL_RETRY, OK, CtrlC, check, run_threads, say, start_daemon, until_asleep

FN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


CREATE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p))
DESTROY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
SHARE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("initialize", FN), ("ctx", ctypes.c_void_p),
                ("prepare", ctypes.c_void_p), ("can_init", ctypes.c_void_p), ("host", ctypes.c_void_p),
                ("on_failure", ctypes.c_uint32), ("on_deferred_failure", ctypes.c_uint32), ("on_fork", ctypes.c_uint32),
                ("contended", ctypes.c_uint32), ("timeout_ns", ctypes.c_uint64)]


def library(kind):
    lazy = kind(os.environ["LAZYONCE_LIBRARY"])
    lazy.lazy_once_run.argtypes = [ctypes.c_void_p, FN, ctypes.c_void_p]
    lazy.lazy_once_init.argtypes = [ctypes.c_void_p]
    lazy.lazy_once_configure.argtypes = [ctypes.c_void_p, ctypes.POINTER(Config)]
    lazy.lazy_host_cpython.restype = ctypes.c_void_p
    lazy.lazy_set_host.argtypes = [ctypes.c_void_p]
    lazy.lazy_slot_named.argtypes, lazy.lazy_slot_named.restype = [ctypes.c_char_p], ctypes.c_void_p
    lazy.lazy_slot_configure.argtypes = [ctypes.c_void_p, ctypes.POINTER(SlotConfig)]
    lazy.lazy_slot_get.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p)]
    lazy.lazy_thread_state_capture.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
    for name in ("enter", "leave", "free"):
        getattr(lazy, "lazy_thread_state_" + name).argtypes = [ctypes.c_void_p]
    return lazy


class SlotConfig(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("ctx", ctypes.c_void_p), ("create", CREATE),
                ("destroy", DESTROY), ("share", SHARE), ("host", ctypes.c_void_p), ("scope", ctypes.c_uint32),
                ("on_fork", ctypes.c_uint32)]


KINDS = {"PyDLL": library(ctypes.PyDLL), "CDLL": library(ctypes.CDLL)}
once = (ctypes.c_uint64 * 4)()
runs = []
inside = threading.Event()


def import_all():
    import email.mime.multipart
    import http.client
    import xml.dom.minidom
    import decimal


def call(kind, thunk):
    return KINDS[kind].lazy_once_run(ctypes.addressof(once), thunk, None)


def begin(host="host"):
    python = KINDS["CDLL"].lazy_host_cpython()
    check(python)
    if host == "host":
        check(KINDS["CDLL"].lazy_set_host(python) == OK)
    say("begun")


def ctypes_pair(host, first, second):
    ids, results = [], []

    @FN
    def initialize(_):
        runs.append(1)
        inside.set()
        while not ids:
            time.sleep(0)
        until_asleep(ids[0])
        import_all()
        return 0

    def two():
        inside.wait()
        ids.append(threading.get_native_id())
        results.append(call(second, initialize))

    begin(host)
    run_threads(two, lambda: results.append(call(first, initialize)))
    check(results == [OK, OK] and len(runs) == 1, results, runs)


def ctypes_subinterpreter(host, kind):
    """A first use inside one runs inside it."""
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    new = interpreters.create("legacy") if sys.version_info >= (3, 13) else interpreters.create(isolated=False)
    begin(host)
    failure = interpreters.run_string(new, """if True:
        import sys
        sys.path[:] = %r
        import rows_ctypes, %s as interpreters
        where = []
        @rows_ctypes.FN
        def initialize(_):
            current = interpreters.get_current()
            where.append(int(current[0] if isinstance(current, tuple) else current))
            rows_ctypes.import_all()
            return 0
        rows_ctypes.check(rows_ctypes.call(%r, initialize) == 0)
        rows_ctypes.check(where == [%d], where)
        rows_ctypes.say("ran inside")
    """ % (sys.path, interpreters.__name__, kind, int(new)))
    check(failure is None, failure)


def ctypes_sixteen_threads(host):
    @FN
    def initialize(_):
        runs.append(1)
        import_all()
        for _ in range(5):
            gc.collect()
            time.sleep(0.001)
        return 0

    begin(host)
    results = []
    barrier = threading.Barrier(16)

    def body(kind):
        barrier.wait()
        results.append(call(kind, initialize))

    run_threads(*[lambda kind=kind: body(kind) for kind in ["PyDLL", "CDLL"] * 8])
    check(results == [OK] * 16 and len(runs) == 1, results, runs)


def ctypes_raising_twice(host):
    """ctypes loses an exception of a callback, so the wrapper keeps it."""
    raised = []

    @FN
    def initialize(_):
        try:
            runs.append(1)
            if len(runs) < 3:
                import te_like_lacks_this_module
            import_all()
            return 0
        except BaseException as failure:
            raised.append(failure)
            return 1

    config = Config(size=ctypes.sizeof(Config), name=b"raising", initialize=initialize, on_failure=FAIL_RETRY)
    begin(host)
    check(KINDS["CDLL"].lazy_once_configure(once, config) == OK)
    results = []
    run_threads(*[lambda kind=kind: results.append(KINDS[kind].lazy_once_init(ctypes.addressof(once)))
                  for kind in ["PyDLL", "CDLL"] * 3])
    check(sorted(results) == [-3, -3, 0, 0, 0, 0] and len(runs) == 3 and len(raised) == 2, results, runs, raised)


def ctypes_ctrl_c(host, kind):
    """Out of a PyDLL call at once, out of a CDLL call not before the initializer's end, and then by Python's own hand."""
    main = threading.get_native_id()
    entering = threading.Event()

    def asleep():
        entering.wait()
        until_asleep(main)

    prompt = kind == "PyDLL"
    keys = CtrlC(asleep, 5 if prompt else 1)

    @FN
    def initialize(_):
        runs.append(1)
        inside.set()
        keys.let_go.wait()
        return 0

    def enter():
        entering.set()
        call(kind, initialize)

    begin(host)
    first = start_daemon(call, "PyDLL", initialize)
    inside.wait()
    came, early = keys.interrupted(enter)
    check(came is not None and early == prompt and (came < 2 or not prompt), came, early)
    first.join()
    check(call(kind, initialize) == OK and len(runs) == 1)
    say("info: KeyboardInterrupt after %.2f s" % came)


def ctypes_ctrl_c_with_a_handler(host, kind):
    """One that raises nothing ends no wait; it runs in a PyDLL call's wait, after a CDLL call. No exception is left behind."""
    main = threading.get_native_id()
    entering, handled = threading.Event(), []

    def asleep():
        entering.wait()
        until_asleep(main)

    keys = CtrlC(asleep, 1)

    @FN
    def initialize(_):
        inside.set()
        keys.let_go.wait()
        return 0

    signal.signal(signal.SIGINT, lambda *_: handled.append(keys.let_go.is_set()))
    begin(host)
    first = start_daemon(call, "CDLL", initialize)
    inside.wait()
    entering.set()
    status = call(kind, initialize)
    check(status == OK and ctypes.pythonapi.PyErr_Occurred() == 0, status)
    first.join()
    check(handled == [kind == "CDLL"], handled)


def ctypes_busy_daemons_at_exit(host, kind):
    """The one inside the initializer wants the GIL, which the interpreter gives to nobody any more; others wait for it."""
    @FN
    def initialize(_):
        inside.set()
        while True:
            pass

    class SlowEnd:
        def __init__(self):
            self.sleep, self.write = time.sleep, os.write

        def __del__(self):
            self.sleep(0.1)
            self.write(1, b"done\n")

    begin(host)
    keep.append(initialize)
    start_daemon(call, kind, initialize)
    inside.wait()
    ids = []
    for each in ("PyDLL", "CDLL"):
        start_daemon(lambda each=each: (ids.append(threading.get_native_id()), call(each, initialize)))
    while len(ids) < 2:
        time.sleep(0)
    for thread in ids:
        until_asleep(thread)
    sys.modules["slow_end"] = SlowEnd()
    return AT_EXIT


def ctypes_slot_of_each_thread(kind):
    """Hand-started threads reach state of their own, and their parent's where they ask for that: no assertion."""
    lazy = KINDS[kind]
    containers, ended, shared = {}, [], []

    @CREATE
    def create(_, device, value):
        key = len(keep) + 1
        keep.append(key)
        containers[key] = {"device": device, "thread": threading.get_ident()}
        value[0] = key
        return 0

    @DESTROY
    def destroy(_, device, value):
        check(containers[value]["device"] == device)
        ended.append(value)

    @SHARE
    def share(_, value):
        shared.append(value)
        return value

    def container(device):
        value = ctypes.c_void_p()
        check(lazy.lazy_slot_get(slot, device, value) == OK)
        return containers[value.value]

    def use_own():
        for device in range(8):
            check(container(device) == {"device": device, "thread": threading.get_ident()})
            check(container(device) is container(device))

    def use_parents():
        use_own()
        check(lazy.lazy_thread_state_enter(state) == OK)
        check(all(container(device) is of_main[device] for device in range(8)))
        check(lazy.lazy_thread_state_leave(state) == OK)
        use_own()

    slot = lazy.lazy_slot_named(b"containers")
    host = lazy.lazy_host_cpython()
    config = SlotConfig(ctypes.sizeof(SlotConfig), None, None, create, destroy, share, host, 0, 0)
    check(lazy.lazy_slot_configure(slot, config) == OK and lazy.lazy_slot_configure(slot, config) == OK)
    say("begun")
    run_threads(*[use_own] * 4)  # nothing set up on the main thread
    of_main = [container(device) for device in range(8)]
    state = ctypes.c_void_p()
    check(lazy.lazy_thread_state_capture(state) == OK)
    run_threads(*[use_parents] * 8)
    lazy.lazy_thread_state_free(state)
    # Threads end a moment after they were joined.
    while len(ended) < 12 * 8 + len(shared):
        time.sleep(0.001)
    check(len(containers) == 13 * 8 and len(shared) == 8, len(containers), len(shared))


keep = []
