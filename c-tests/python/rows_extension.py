"""The rows with the pybind11 extension te_like. The first argument is the variant of "once"."""
import atexit
import gc
import os
import sys
import threading
import time

import te_like as te
from child import (AT_EXIT, E_HOST, FAIL_RETRY, HELD, OK, OUTCOME_QUEUED, QUEUED, RAN_AFTER_WAIT, RAN_READY, RAN_REENTRANT,
                   RELEASED, CtrlC, busy, check, run_threads, say, start_daemon)


def use(variant, held):
    return getattr(te, "%s_%s" % (variant, "held" if held else "released"))


def begin(on_failure=0):
    check(te.configure(on_failure))
    say("begun")


def pair(variant, first, second):
    first, second = first == "held", second == "held"
    results = []
    main = threading.get_native_id()

    def one():
        te.until_asleep(main)  # nobody has the GIL but this thread
        results.append(use(variant, first)(0))

    def two():
        te.wait_inside(0)
        results.append(use(variant, second)(0))

    begin()
    run_threads(two, one)
    check(results == [1, 1], results)


def pair_cold(variant, first, second):
    te.plan(waits_for=second == "held")
    pair(variant, first, second)


def pair_busy(variant, first, second):
    """The initializer never lets the GIL go of its own accord."""
    def initializer():
        while not te.caller_is_asleep(0, second == "held"):
            pass
        busy(0.1)

    te.plan(imports=False, also=initializer)
    pair(variant, first, second)


def pair_after_subinterpreter(variant, first, second):
    """From then on PyGILState_Check says yes to everybody."""
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    other = interpreters.create()
    interpreters.run_string(other, "import sys")
    interpreters.destroy(other)
    pair_cold(variant, first, second)


def crowd(variant, count):
    """Half with the GIL, half without, all at once."""
    results = []
    barrier = threading.Barrier(count)

    def body(held):
        barrier.wait()
        results.append(use(variant, held)(0))

    run_threads(*[lambda held=i % 2 == 0: body(held) for i in range(count)])
    check(results == [1] * count, results)


def sixteen_threads(variant):
    te.plan(waits_for=1)
    begin()
    crowd(variant, 16)


def collecting(variant):
    def initializer():
        for _ in range(20):
            gc.collect()
            time.sleep(0.001)

    te.plan(waits_for=1, also=initializer)
    begin()
    crowd(variant, 12)


def foreign_threads(variant):
    te.plan(waits_for=1)
    begin()
    results = []
    getattr(te, variant + "_foreign_start")(8)
    run_threads(*[lambda: results.append(use(variant, HELD)(0))] * 4)
    check(te.foreign_join() == 8)
    check(results == [1] * 4 and te.runs(0) == 1, results)


def nested(variant):
    """The second once is begun first; then the first, whose initializer needs the second; and more callers of both."""
    te.plan(nested=True, waits_for=1)
    getattr(te, variant + "_nests")()
    results = []

    def body(which, held, after):
        for other in after:
            te.wait_inside(other)
        results.append(use(variant, held)(which))

    begin()
    rows = [(1, HELD, []), (0, HELD, [1])] + [(which, held, [1, 0]) for which in (0, 1) for held in (HELD, RELEASED)]
    run_threads(*[lambda row=row: body(*row) for row in rows])
    check(results == [1] * 6, results)


def raising_twice(variant):
    te.plan(failures=2, waits_for=1)
    begin(FAIL_RETRY)
    outcomes = []
    barrier = threading.Barrier(6)

    def body():
        barrier.wait()
        try:
            outcomes.append(use(variant, HELD)(0))
        except ModuleNotFoundError:
            outcomes.append("raised")

    run_threads(*[body] * 6)
    check(sorted(outcomes, key=str) == [3] * 4 + ["raised"] * 2, outcomes)


# Ctrl-C in a thread that waits. "prompt": out of the call, while the initializer is still running; "late": not before its end.

def ctrl_c(variant, caller, wanted, receiver="process"):
    held = caller == "held"
    main = threading.get_native_id()
    keys = CtrlC(lambda: te.wait_for_thread(main), 5 if wanted == "prompt" else 1, receiver == "helper")
    te.plan(also=keys.let_go.wait)
    begin()
    first = start_daemon(use(variant, HELD), 0)
    te.wait_inside(0)
    came, early = keys.interrupted(use(variant, held), 0)
    check(came is not None and early == (wanted == "prompt"), came, early)
    check(wanted == "late" or came < 2, came)
    first.join()
    check(use(variant, held)(0) == 1)
    say("info: KeyboardInterrupt after %.2f s" % came)


def ctrl_c_leaves_no_request(variant):
    """A callback that was waiting is neither run nor queued."""
    main = threading.get_native_id()
    keys = CtrlC(lambda: te.wait_for_thread(main), 5)
    te.plan(also=keys.let_go.wait)
    begin()
    first = start_daemon(use(variant, RELEASED), 0)
    te.wait_inside(0)
    came, early = keys.interrupted(te.submit_held, "csv", "", True)
    check(came is not None and came < 2 and early, came, early)
    first.join()
    check(te.imported() == 0 and te.submit_held("csv", "", True) == (OK, RAN_READY) and te.imported() == 1)


def ctrl_c_of_the_main_thread_only(variant):
    """Another thread that waits attached goes on."""
    ids, results = [], []

    def waiter():
        ids.append(threading.get_native_id())
        te.wait_inside(0)
        results.append(use(variant, HELD)(0))

    other = start_daemon(waiter)
    while not ids:
        time.sleep(0)
    listening = threading.Event()

    def asleep():
        listening.wait()
        te.wait_for_thread(ids[0])

    def listen():
        listening.set()
        time.sleep(60)

    keys = CtrlC(asleep, 5)
    te.plan(also=keys.let_go.wait)
    begin()
    first = start_daemon(use(variant, RELEASED), 0)
    came, early = keys.interrupted(listen)
    check(came is not None and early, came, early)
    first.join()
    other.join()
    check(results == [1], results)


# The same callback, which imports, in each of its moments.

def order(variant, hold):
    hold = hold == "hold"
    check(te.configure(0))
    check(not {"csv", "zipfile", "plistlib", "mailbox", "smtplib"} & set(sys.modules))
    check(te.submit_released("csv", "zipfile", hold) == (QUEUED, OUTCOME_QUEUED))
    check(te.lazyonce_released(0) == 1)
    check(te.imported() == 2 and te.inner_outcome() == RAN_REENTRANT, te.imported(), te.inner_outcome())
    check(te.submit_held("plistlib", "", hold) == (OK, RAN_READY))
    check(te.imported() == 3)
    say("begun")
    check(te.submit_released("mailbox", "smtplib", hold) == (OK, RAN_READY))
    check(te.imported() == 5 and te.inner_outcome() == RAN_READY)


def after_a_wait(variant, caller):
    te.plan(waits_for=caller == "held")
    begin()
    results = []

    def late():
        te.wait_inside(0)
        results.append((te.submit_held if caller == "held" else te.submit_released)("mailbox", "smtplib", True))

    run_threads(late, lambda: te.lazyonce_released(0))
    check(results == [(OK, RAN_AFTER_WAIT)] and te.imported() == 2, results)


# The end of the process, and fork.

def daemons_at_exit(variant):
    """One is inside the initializer, four wait."""
    te.plan(also=threading.Event().wait)
    begin()
    start_daemon(use(variant, HELD), 0)
    te.wait_inside(0)
    for held in (HELD, HELD, RELEASED, RELEASED):
        start_daemon(use(variant, held), 0)
    while te.waiters() < 4:
        time.sleep(0)


def exit_handler(variant):
    """It needs what a daemon is initializing, and gets it."""
    let_go = threading.Event()
    te.plan(also=let_go.wait)
    begin()
    start_daemon(use(variant, HELD), 0)
    te.wait_inside(0)
    main = threading.get_native_id()

    def helper():
        te.wait_for_thread(main)
        let_go.set()

    start_daemon(helper)
    atexit.register(lambda: check(use(variant, HELD)(0) == 1) or say("done"))
    return AT_EXIT


class Late:
    """Ends with the modules, when the interpreter is already finalising."""

    def __init__(self):
        self.try_init, self.write, self.is_finalizing, self.refused = te.try_init_held, os.write, sys.is_finalizing, E_HOST

    def __del__(self):
        statuses = [self.try_init(which) for which in (0, 1)]
        good = self.is_finalizing() and statuses == [self.refused] * 2
        self.write(1, b"done\n" if good else repr(statuses).encode())


def late_teardown(variant):
    te.plan(also=threading.Event().wait)
    begin()
    start_daemon(use(variant, HELD), 0)
    te.wait_inside(0)
    sys.modules["te_like_late"] = Late()
    return AT_EXIT


def fork(variant):
    """The child of a process that is initializing initializes."""
    let_go = threading.Event()
    te.plan(also=let_go.wait)
    begin()
    first = start_daemon(use(variant, HELD), 0)
    te.wait_inside(0)
    waiter = start_daemon(use(variant, RELEASED), 0)
    while te.waiters() < 1:
        time.sleep(0)
    child = os.fork()
    if child == 0:
        te.plan(waits_for=1)
        results = []
        run_threads(*[lambda held=held: results.append(use(variant, held)(0)) for held in (HELD, RELEASED, HELD)])
        os._exit(0 if results == [2] * 3 else 1)
    check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0)
    let_go.set()
    first.join()
    waiter.join()
    check(te.runs(0) == 1 and use(variant, RELEASED)(0) == 1)


# What it costs.

def ready_cost(variant):
    """Beside a busy Python thread. The price of a variant that takes the GIL in every call stands beside it."""
    begin()
    check(use("lazyonce", HELD)(0) == 1)
    use("outside", HELD)(0)
    stop = threading.Event()

    def spin():
        while not stop.is_set():
            pass

    thread = start_daemon(spin)
    ours, theirs = te.lazyonce_ready_cost(200, 1000), te.outside_ready_cost(31, 1)
    stop.set()
    thread.join()
    check(ours < 1000, ours)
    say("info: %.1f ns a call; with the GIL taken outside call_once %.0f us" % (ours, theirs / 1000))


def relay(variant):
    """Each of 32 waiters must take the GIL back."""
    ended = []

    def initializer():
        while te.waiters() < 32:
            time.sleep(0.001)
        ended.append(time.monotonic())

    te.plan(imports=False, also=initializer)
    begin()
    results = []
    run_threads(*[lambda: results.append((use(variant, HELD)(0), time.monotonic()))] * 33)
    check([runs for runs, _ in results] == [1] * 33, results)
    say("info: all back after %.1f ms" % (1000 * (max(when for _, when in results) - ended[0])))
