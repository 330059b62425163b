"""LAZYONCE_DUMP_SIGNAL in a Python process."""
import subprocess
import sys

from alone import environment

PROGRAM = """
import signal, threading
seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
import lazyonce
inside, go = threading.Event(), threading.Event()

def start():
    inside.set()
    go.wait()

once = lazyonce.Once("the held one", start)
owner = threading.Thread(target=once.init)
owner.start()
inside.wait()
signal.raise_signal(signal.SIGUSR1)
go.set()
owner.join()
print(owner.native_id, seen == [signal.SIGUSR1])
"""


def test_the_signal_writes_the_dump_and_then_calls_the_handler_that_was_there():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment(LAZYONCE_DUMP_SIGNAL="USR1"), capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    owner, was_called = run.stdout.split()
    assert was_called == "True"
    line = next(line for line in run.stderr.splitlines() if line.startswith('once "the held one" at '))
    assert "initializing" in line and f", on thread {owner}," in line
