"""Runs a test in a fresh process under a limit: for what could hang, or changes the whole process."""
import functools
import importlib
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent
REPOSITORY = PACKAGE.parent
LIMIT = 60
BUILT = REPOSITORY / "target" / "release" / "liblazyonce.so"
if "LAZYONCE_LIBRARY" not in os.environ and BUILT.exists():
    os.environ["LAZYONCE_LIBRARY"] = str(BUILT)


def environment(**more):
    """This process's, and where the package and the tests' own modules are."""
    path = os.pathsep.join(map(str, [PACKAGE, HERE, REPOSITORY / "c-tests" / "python"]))
    return {**os.environ, "PYTHONPATH": path, **more}


def python(*arguments, env=None, **options):
    """What an interpreter like this one prints; a failure if it does not end well within the limit."""
    process = subprocess.Popen(
        [sys.executable, *map(str, arguments)], env=env or environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True, **options
    )
    try:
        output, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGABRT)  # faulthandler shows where it hangs
        output, errors = process.communicate()
        raise AssertionError("no end after %s s:\n%s\n%s" % (LIMIT, output, errors)) from None
    assert process.returncode == 0, "%s:\n%s\n%s" % (process.returncode, output, errors)
    assert "Exception ignored" not in errors and "Traceback" not in errors, errors
    return output


def alone(test):
    """The test runs in a process of its own, which prints "done"."""

    @functools.wraps(test)
    def run():
        assert python("-X", "faulthandler", __file__, test.__module__, test.__name__).splitlines()[-1:] == ["done"]

    del run.__wrapped__  # pytest would look for its arguments
    run.body = test
    return run


def in_fork(body):
    """Runs it in a forked child, which must end well within the limit."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(20)
            body()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with SIGINT ignored
    getattr(importlib.import_module(sys.argv[1]), sys.argv[2]).body()
    print("done", flush=True)
