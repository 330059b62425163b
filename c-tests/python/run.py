#!/usr/bin/env python3
"""Runs the rows of one interpreter, each in a fresh process under a watchdog, and compares with what was measured.

    run.py [--library DIR] [--python PATH] [--repeat N] [--only TEXT]

The rows with the extension need a compiler, Python's headers and pybind11 in that interpreter; without them they are skipped.
"""
import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent
LIMIT = 60  # seconds for a row
HANG = 6  # seconds after which a control that must hang is looked at
TOGETHER = 6  # controls that must hang run side by side: they sleep
VARIANTS = ["none", "inside", "outside", "pybind", "lazyonce"]
WHAT = {"none": "no GIL taken", "inside": "GIL inside call_once", "outside": "GIL outside call_once",
        "pybind": "gil_safe_call_once", "lazyonce": "lazyonce", "hold": "HOLD_HOST", "bare": "no HOLD_HOST", "host": "lazyonce",
        "none set": "lazyonce without a host"}

# Row, its arguments; then what must become of each variant. Where the order of the threads is open, so is how the control
# without the GIL fails.
FAILS = "crashed or hung"
TABLE = [
    ("pair_cold", ["released", "released"], ["crashed", "ok", "hung", "ok", "ok"]),
    ("pair_cold", ["released", "held"], ["crashed", "hung", "hung", "ok", "ok"]),
    ("pair_cold", ["held", "released"], ["ok", "ok", "hung", "ok", "ok"]),
    ("pair_cold", ["held", "held"], ["hung", "hung", "hung", "ok", "ok"]),
    ("pair_busy", ["released", "released"], ["crashed", "ok", "hung", "ok", "ok"]),
    ("pair_busy", ["released", "held"], ["crashed", "hung", "hung", "ok", "ok"]),
    ("pair_busy", ["held", "released"], ["ok", "ok", "hung", "ok", "ok"]),
    ("pair_busy", ["held", "held"], ["hung", "hung", "hung", "ok", "ok"]),
    ("sixteen_threads", [], [FAILS, "hung", "hung", "ok", "ok"]),
    ("foreign_threads", [], [FAILS, "hung", "hung", "ok", "ok"]),
    ("nested", [], ["hung", "hung", "hung", "ok", "ok"]),
    ("raising_twice", [], ["hung", "hung", "hung", "ok", "ok"]),
    ("collecting", [], [FAILS, "hung", "hung", "ok", "ok"]),
    ("ctrl_c", ["held", "prompt"], ["hung", "hung", "hung", None, "ok"]),
    ("ctrl_c", ["held", "late"], [None, None, None, "ok", None]),
]
OURS = [
    ("ctrl_c", ["held", "prompt", "helper"]), ("ctrl_c", ["released", "late"]), ("ctrl_c_leaves_no_request", []),
    ("ctrl_c_of_the_main_thread_only", []), ("after_a_wait", ["held"]), ("after_a_wait", ["released"]),
    ("pair_after_subinterpreter", ["released", "held"]), ("pair_after_subinterpreter", ["held", "held"]),
    ("daemons_at_exit", []), ("exit_handler", []), ("late_teardown", []), ("fork", []), ("ready_cost", []), ("relay", []),
]
ROWS = [(row, [variant] + arguments, wanted) for row, arguments, outcomes in TABLE
        for variant, wanted in zip(VARIANTS, outcomes) if wanted]
ROWS += [(row, ["lazyonce"] + arguments, "ok") for row, arguments in OURS]
ROWS += [("order", ["lazyonce", "hold"], "ok"), ("order", ["lazyonce", "bare"], "crashed")]
KINDS = [("CDLL", "CDLL"), ("CDLL", "PyDLL"), ("PyDLL", "CDLL"), ("PyDLL", "PyDLL")]
ROWS += [("ctypes_pair", ["none set", *kinds], "hung" if kinds[1] == "PyDLL" else "ok") for kinds in KINDS]
ROWS += [("ctypes_pair", ["host", *kinds], "ok") for kinds in KINDS]
ROWS += [("ctypes_sixteen_threads", ["host"], "ok"), ("ctypes_raising_twice", ["host"], "ok")]
ROWS += [(row, ["host", kind], "ok") for kind in ("PyDLL", "CDLL")
         for row in ("ctypes_subinterpreter", "ctypes_ctrl_c", "ctypes_ctrl_c_with_a_handler", "ctypes_busy_daemons_at_exit")]

ROWS += [("ctypes_slot_of_each_thread", [kind], "ok") for kind in ("PyDLL", "CDLL")]


class Skip(Exception):
    """What the row needs is not here."""


class LeftOut(Exception):
    """The row means nothing with this interpreter."""


def look(process):
    """Of each thread: is it asleep in a lock? Its processor time beside it."""
    threads = {}
    for task in Path("/proc/%d/task" % process).glob("*"):
        try:
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
            number = (task / "syscall").read_text().split()[0]
        except (OSError, IndexError):
            continue
        threads[task.name] = (fields[0] == "S" and number == FUTEX, int(fields[11]) + int(fields[12]))
    return threads


FUTEX = {"x86_64": "202", "aarch64": "98"}.get(os.uname().machine)


def is_hung(process):
    """Every thread sleeps in a lock. One that waits for the GIL looks up every 5 ms, so a few looks may find it awake."""
    looks = []
    for _ in range(20):
        looks.append(look(process))
        time.sleep(0.05)
    first, last = looks[0], looks[-1]
    if not first or first.keys() != last.keys():
        return False
    ticks = sum(last[thread][1] - first[thread][1] for thread in first)
    return ticks < 50 and all(sum(each.get(thread, (False,))[0] for each in looks) >= 14 for thread in first)


class Child:
    """A process in a group of its own, with the row in it."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment, start_new_session=True, text=True, errors="replace")
        self.output = ["", ""]
        self.readers = [threading.Thread(target=self.read, args=each, daemon=True)
                        for each in ((0, self.process.stdout), (1, self.process.stderr))]
        for reader in self.readers:
            reader.start()

    def read(self, which, pipe):
        for line in pipe:
            self.output[which] += line

    def wait(self, seconds):
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def end(self):
        """What is left of its group goes too, such as a forked child."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for reader in self.readers:
            reader.join()


def outcome_of(command, environment, may_hang):
    """"ok", "crashed", "hung", "failed" or "slow", and the details."""
    child = Child(command, environment)
    begin = time.monotonic()
    outcome = None
    if may_hang and not child.wait(HANG):
        while child.process.poll() is None and time.monotonic() - begin < LIMIT and not outcome:
            outcome = "hung" if is_hung(child.process.pid) else None
    elif not may_hang and not child.wait(LIMIT):
        outcome = "hung" if is_hung(child.process.pid) else "slow"
    if child.process.poll() is None:
        outcome = outcome or "slow"
        threads = " ".join("%s:%s" % (thread, "lock" if asleep else "awake")
                           for thread, (asleep, _) in look(child.process.pid).items())
    child.end()
    lines, errors = child.output[0].split("\n"), child.output[1].strip()
    info = "; ".join(line[len("info: "):] for line in lines if line.startswith("info: "))
    if outcome:
        return outcome, "%s%s %s" % ("" if "begun" in lines else "before it began; ", threads, errors)
    code = child.process.returncode
    if code < 0:
        return "crashed" if "begun" in lines else "failed", signal.Signals(-code).name + " " + errors[-300:]
    if code or errors or lines[-2:] != ["done", ""]:
        return "failed", "exit status %d, last words: %s %s" % (code, " ".join(lines[-4:]), errors[-1500:])
    return "ok", info


def compile_it(command, output):
    done = subprocess.run([*command, "-o", str(output)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("%s\n%s" % (" ".join(map(str, command)), done.stderr))


class Bench:
    """What is built for one interpreter, in a temporary folder."""

    def __init__(self, python, library, folder):
        self.python, self.library, self.folder = python, library, folder
        self.link = ["-I" + str(PACKAGE / "include"), "-pthread", "-L" + str(library), "-Wl,-rpath," + str(library), "-llazyonce",
                     "-ldl"]
        self.environment = dict(os.environ, LAZYONCE_LIBRARY=str(library / "liblazyonce.so"), PYTHONDONTWRITEBYTECODE="1")
        self.environment.pop("PYTHONPATH", None)
        self.why_no_extension = self.build_extension()

    def ask(self, *arguments):
        done = subprocess.run([self.python, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return done.stdout.strip() if done.returncode == 0 else None

    def build_extension(self):
        includes = self.ask("-m", "pybind11", "--includes")
        if not includes:
            return "this interpreter has no pybind11"
        if not shutil.which("g++"):
            return "no g++"
        if not Path(self.ask("-c", "import sysconfig; print(sysconfig.get_path('include'))"), "Python.h").exists():
            return "no Python.h"
        compile_it(["g++", "-O2", "-DNDEBUG", "-shared", "-fPIC", "-std=c++17", "-fvisibility=hidden", "-Wall", "-Wextra",
                    "-Werror", *includes.replace("-I", "-isystem").split(), str(HERE / "te_like.cpp"), *self.link],
                   self.folder / "te_like.so")
        return None

    def row(self, row, arguments, wanted):
        if not row.startswith("ctypes_") and self.why_no_extension:
            raise Skip(self.why_no_extension)
        if row == "ctypes_subinterpreter" and self.ask("-c", "import sys; print(sys.version_info < (3, 12))") == "True":
            raise LeftOut("before 3.12 PyGILState_Ensure is for the main interpreter only")
        if self.ask("-c", "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)") != "0" and \
                not {"lazyonce", "host"} & set(arguments):
            raise LeftOut("the controls were measured with a GIL")
        command = [self.python, "-W", "ignore::DeprecationWarning", str(HERE / "child.py"), str(self.folder), row, *arguments]
        return outcome_of(command, self.environment, "hung" in wanted)

    def embed(self):
        config = self.ask("-c", "import sysconfig; print(sysconfig.get_config_var('BINDIR') + '/python'"
                                " + sysconfig.get_config_var('VERSION') + '-config')")
        if not config or not os.path.exists(config):
            raise Skip("no python3-config")
        flags = {flag: subprocess.run([config, "--embed", flag], capture_output=True, text=True).stdout.split()
                 for flag in ("--includes", "--ldflags")}
        if not flags["--ldflags"]:
            raise Skip("python3-config knows no --embed")
        program = self.folder / "embed"
        compile_it(["g++", "-O2", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-I" + str(HERE.parent),
                    *flags["--includes"], str(HERE / "embed.cpp"), *flags["--ldflags"], *self.link], program)
        return outcome_of([str(program)], self.environment, False)

    def no_python(self, private):
        program = self.folder / "no_python"
        compile_it(["gcc", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" + str(HERE.parent), str(HERE / "no_python.c"),
                    *self.link], program)
        arguments = []
        if private:
            folder, multiarch, name = self.ask("-c", "import sysconfig; print(*map(sysconfig.get_config_var,"
                                               " ('LIBDIR', 'MULTIARCH', 'INSTSONAME')), sep='\\n')").split("\n")
            paths = [Path(folder, name), Path(folder, multiarch, name)]
            arguments = [str(path) for path in paths if ".so" in name and path.exists()][:1]
            if not arguments:
                raise Skip("no shared libpython")
        return outcome_of([str(program), *arguments], self.environment, False)

    def all_rows(self):
        """Name, whether it is repeated, what must become of it, and how to run it."""
        for row, arguments, wanted in ROWS:
            name = "%s %s" % (row, " ".join(WHAT.get(each, each) for each in arguments))
            repeated = wanted == "ok" and ("lazyonce" in arguments or "host" in arguments)
            yield name, repeated, wanted, lambda row=row, arguments=arguments, wanted=wanted: self.row(row, arguments, wanted)
        yield "embedded, ended and started again", True, "ok", self.embed
        yield "no Python in the process", False, "ok", lambda: self.no_python(False)
        yield "a private libpython", False, "ok", lambda: self.no_python(True)


def run_row(wanted, times, run):
    """Ends at the first that is not as it must be."""
    try:
        for done in range(times):
            outcome, details = run()
            if outcome not in wanted.split(" or "):
                where = " in run %d" % (done + 1) if times > 1 else ""
                return "FAILED", "%s instead of %s%s: %s" % (outcome, wanted, where, details)
    except Skip as reason:
        return "skipped", str(reason)
    except LeftOut as reason:
        return "left out", str(reason)
    details = "%s %s" % (outcome, details if outcome in ("ok", "crashed") else "")
    return "passed", details.strip() + (" (%d times)" % times if times > 1 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", type=Path, default=PACKAGE / "target" / "release", help="where liblazyonce.so is")
    parser.add_argument("--python", default=sys.executable, help="the interpreter")
    parser.add_argument("--repeat", type=int, default=1, help="how often the rows of lazyonce must pass in a row")
    parser.add_argument("--only", default="", help="only rows with this text in their line")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # some controls crash
    counts = {"passed": 0, "FAILED": 0, "skipped": 0, "left out": 0}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.python, options.library.resolve(), Path(folder))
        print("Python " + (bench.ask("-c", "import sys; print(sys.version.split()[0])") or "does not start"), flush=True)
        rows = [row for row in bench.all_rows() if options.only in row[0]]
        with ThreadPoolExecutor(TOGETHER) as pool:
            controls = {name: pool.submit(run_row, wanted, 1, run) for name, _, wanted, run in rows if "hung" in wanted}
        for name, repeated, wanted, run in rows:
            times = options.repeat if repeated else 1
            verdict, details = controls[name].result() if name in controls else run_row(wanted, times, run)
            counts[verdict] += 1
            print("%-8s %-55s %s" % (verdict, name, details), flush=True)
    print("%d passed, %d failed, %d skipped (%d left out)" % tuple(counts.values()))
    return counts["FAILED"] > 0


if __name__ == "__main__":
    sys.exit(main())
