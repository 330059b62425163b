"""A program whose trace has one of everything: a slow start, its callbacks, threads that wait, a factory, a failure, a forked
child, a hang.

    LAZYONCE_TRACE=trace.json python examples/traced.py
    python -m lazyonce trace trace.json -o trace.svg
"""
import os
import signal
import threading
import time

import lazyonce

loading = threading.Event()


def load_driver():
    loading.set()
    time.sleep(0.03)


def load_table():
    time.sleep(0.012)
    tries.append("one")
    if len(tries) == 1:
        raise OSError("no such table")


def set_seed():
    time.sleep(0.008)


def load_kernels():
    time.sleep(0.004)
    try:
        table.init()
    except OSError:
        table.init()


def join_a_user():
    """What is not promised: a callback that joins a thread which waits for the same once."""
    user = threading.Thread(target=use_log, daemon=True)
    user.start()
    user.join()


def use_driver():
    loading.wait()
    time.sleep(0.005)
    driver.init()
    plans.get()


def make_plan(index):
    time.sleep(0.01)


def use_log():
    log.init()


def in_child():
    table.init()
    os._exit(0)


tries = []
driver = lazyonce.Once("driver", load_driver)
table = lazyonce.Once("table", load_table, on_fork="reset")
plans = lazyonce.Slot(make_plan, scope="process")
log = lazyonce.Once("log", lambda: time.sleep(0.006))


def main():
    driver.call(set_seed)
    driver.call(load_kernels)
    users = [threading.Thread(target=use_driver) for _ in range(2)]
    for user in users:
        user.start()
    driver.init()
    for user in users:
        user.join()
    child = os.fork()
    if child == 0:
        in_child()
    os.waitpid(child, 0)
    log.call(join_a_user)
    threading.Thread(target=use_log, daemon=True).start()
    time.sleep(0.03)
    os.kill(os.getpid(), signal.SIGKILL)  # as somebody who has lost patience


main()
