"""What the rows share, and the entry of the process that runs one of them: child.py FOLDER ROW [ARGUMENT...].

A row that passes prints "done" as its last line; one that returns AT_EXIT does so while the interpreter ends. "begun" says
that what follows is the row itself.
"""
import ctypes
import os
import signal
import sys
import threading
import time

HELD, RELEASED = True, False
OK, QUEUED, E_HOST = 0, 1, -9
RAN_READY, RAN_REENTRANT, RAN_AFTER_WAIT, OUTCOME_QUEUED = 1, 2, 3, 4
FAIL_RETRY = 1
AT_EXIT = "at exit"


def say(text):
    os.write(1, (text + "\n").encode())


def check(condition, *seen):
    if not condition:
        line = sys._getframe(1).f_lineno
        where = os.path.basename(sys._getframe(1).f_code.co_filename)
        raise AssertionError("%s:%d: %s" % (where, line, ", ".join(map(repr, seen))))


def run_threads(*bodies, daemon=False):
    """Runs each on a thread of its own; the first exception of one is raised here."""
    failures = []

    def guarded(body):
        try:
            body()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(body,), daemon=daemon) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def start_daemon(body, *args):
    thread = threading.Thread(target=body, args=args, daemon=True)
    thread.start()
    return thread


def busy(seconds):
    """Keeps the GIL but for the interpreter's own switches."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def until_asleep(thread):
    """Returns when that thread sleeps: three equal looks at its system call."""
    before, same = None, 0
    while same < 3:
        with open("/proc/self/task/%d/syscall" % thread) as file:
            now = file.read()
        same = same + 1 if now == before and not now.startswith("running") else 0
        before = now


class CtrlC:
    """Sends SIGINT when `asleep()` has returned, by way of this process or of a thread that is not the main one; lets the
    initializer end when told to, or after `patience` seconds."""

    def __init__(self, asleep, patience, to_helper=False):
        self.asleep, self.patience, self.to_helper = asleep, patience, to_helper
        self.let_go, self.over = threading.Event(), threading.Event()
        self.sent = 0.0
        start_daemon(self.send)

    def send(self):
        self.asleep()
        self.sent = time.monotonic()
        if self.to_helper:
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        else:
            os.kill(os.getpid(), signal.SIGINT)
        self.over.wait(self.patience)
        self.let_go.set()

    def interrupted(self, call, *args):
        """How long after the signal KeyboardInterrupt came out of `call`; None if it did not. Also whether the initializer
        was still running then."""
        try:
            call(*args)
            time.sleep(0)  # a signal that is still pending comes out here
            came = None
        except KeyboardInterrupt:
            came = time.monotonic() - self.sent
        early = not self.let_go.is_set()
        self.over.set()
        return came, early


def main():
    folder, row, *arguments = sys.argv[1:]
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: not to outlive the driver
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with SIGINT ignored
    sys.path.insert(0, folder)
    import rows_ctypes
    rows = {name: value for name, value in vars(rows_ctypes).items() if callable(value)}
    if not row.startswith("ctypes_"):
        import rows_extension
        rows = vars(rows_extension)
    if rows[row](*arguments) != AT_EXIT:
        say("done")


if __name__ == "__main__":
    main()
