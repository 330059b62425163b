"""The demo: the two hangs of PyTorch's pull request 182948 with a gate written by hand, and the same programs with ours.

Each cell is a fresh process under a watchdog: `python -m lazyonce._demo GATE SCENARIO`.
"""
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Callable, List, Tuple

from . import Once, __version__

LIMIT = 5.0  # seconds; all old gates hang at once
FUTEX = {"x86_64": "202", "aarch64": "98"}.get(os.uname().machine, "")
SCENARIOS = [
    ["1 initialized; then a callback", "  calls set_rng_state", "  old: lock held over the callback"],
    ["2 callback queued before init calls", "  manual_seed during the drain", "  old: lock held over the callback"],
]


def step(text: str) -> None:
    print(text, flush=True)


class HandWritten:
    """The usual gate: one lock around flag, queue and callbacks."""

    def __init__(self, initialize: Callable[[], None]) -> None:
        self.lock = threading.Lock()
        self.ready = False
        self.queue: List[Callable[[], None]] = []
        self.initialize = initialize

    def call(self, fn: Callable[[], None]) -> None:
        with self.lock:
            if self.ready:
                fn()
            else:
                self.queue.append(fn)

    def init(self) -> None:
        with self.lock:
            if not self.ready:
                self.initialize()
                for fn in self.queue:
                    fn()
                self.ready = True


def scenario(kind: str, number: str) -> None:
    """The program of one cell."""
    gate = HandWritten(lambda: step("init")) if kind == "old" else Once("gpu", lambda: step("init"))
    generator = random.Random(1)

    def reseed() -> None:
        step("callback")
        step("set_rng_state" if number == "1" else "manual_seed")
        if number == "1":
            gate.call(lambda: generator.setstate(random.Random(7).getstate()))
        else:
            gate.call(lambda: generator.seed(7))
        step("back")

    if number == "2":
        gate.call(reseed)
    gate.init()
    if number == "1":
        gate.call(reseed)
    draw = generator.random()
    if draw == random.Random(7).random():
        step("draw %.4f = known answer" % draw)
        step("done")


class Cell:
    """A scenario in a process of its own."""

    def __init__(self, kind: str, number: int) -> None:
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lazyonce._demo", kind, str(number)], stdout=subprocess.PIPE, text=True
        )

    def result(self) -> Tuple[str, List[str]]:
        """"done", "HANG", or what else became of it, and the lines of the cell."""
        try:
            output, _ = self.process.communicate(timeout=max(0, self.began + LIMIT - time.monotonic()))
        except subprocess.TimeoutExpired:
            asleep = self._asleep_in_a_lock()
            self.process.kill()
            output, _ = self.process.communicate()
            last = "  last step: " + (output.split("\n")[-2] if output else "none")
            seen = "(asleep in a lock" if asleep else "(not seen asleep"
            return "HANG" if asleep else "not back", [seen, "  after %g s)" % LIMIT, last]
        steps = output.split("\n")[:-1]
        if self.process.returncode != 0 or steps[-1:] != ["done"]:
            return "failed", ["exit code %s" % self.process.returncode, "", ""]
        return "done", [" > ".join(steps[:2]), "  > " + " > ".join(steps[2:4]), steps[-2]]

    def _asleep_in_a_lock(self) -> bool:
        tasks = list(Path("/proc/%d/task" % self.process.pid).iterdir())
        return bool(tasks) and all((task / "syscall").read_text().split()[0] == FUTEX for task in tasks)


def demo() -> int:
    """Prints the table; 0 if it came out as claimed."""
    colours = {"HANG": "31", "done": "32"} if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else {}
    row = "%-36s | %s | %s"
    print("lazyonce %s | Python %s" % (__version__, sys.version.split()[0]))
    print("each cell: the same program, a fresh process, at most %g s\n" % LIMIT)
    print(row % ("scenario", "hand-written gate".ljust(28), "lazyonce"))
    as_claimed = True
    old = [Cell("old", number) for number in (1, 2)]
    for number, (text, hanging) in enumerate(zip(SCENARIOS, old), 1):
        ours = Cell("new", number)
        cells = [ours.result(), hanging.result()][::-1]
        as_claimed = as_claimed and [outcome for outcome, _ in cells] == ["HANG", "done"]
        print("-" * 37 + "+" + "-" * 30 + "+" + "-" * 30)
        heads = [outcome.ljust(width) for (outcome, _), width in zip(cells, (28, 0))]
        for index, (outcome, _) in enumerate(cells):
            if outcome in colours:
                heads[index] = "\033[%sm%s\033[0m" % (colours[outcome], heads[index])
        print((row % (text[0], *heads)).rstrip())
        lines = [[line.ljust(28) for line in cells[0][1]], cells[1][1]]
        for index in range(3):
            print((row % ((text + [""])[index + 1], lines[0][index], lines[1][index])).rstrip())
    print("\n" + ("all as claimed" if as_claimed else "NOT as claimed"))
    return 0 if as_claimed else 1


if __name__ == "__main__":
    scenario(*sys.argv[1:])
