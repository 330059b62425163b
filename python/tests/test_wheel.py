"""The wheel: what is in it, that it needs no compiler, and that an extension builds with what it holds."""
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from alone import LIMIT, PACKAGE, REPOSITORY, environment, python

BUILD_LIMIT = 900  # seconds: cargo may have to build the library first


def run(*command, **options):
    """What it prints, on either stream; a failure if it fails."""
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **{"timeout": LIMIT, **options}
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def pip_wheel(source, into):
    pytest.importorskip("setuptools", "70.1", reason="setuptools 70.1 is not installed")
    return [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", into, source]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if not shutil.which("cargo"):
        pytest.skip("no cargo")
    folder = tmp_path_factory.mktemp("wheel")
    run(*pip_wheel(PACKAGE, folder), timeout=BUILD_LIMIT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The interpreter of a clean environment that holds only the wheel."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    interpreter = folder / "bin" / "python"
    run(interpreter, "-m", "pip", "install", "-q", "--no-index", wheel, env=clean())
    return interpreter


def clean():
    """No library from elsewhere, no package from the checkout, no compiler."""
    return {key: value for key, value in os.environ.items() if key not in ("LAZYONCE_LIBRARY", "PYTHONPATH", "PATH")}


def test_its_tag_and_what_is_in_it(wheel):
    assert wheel.name.startswith("lazyonce-0.1.0-py3-none-linux_")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info" not in name}
    here = {str(path.relative_to(PACKAGE)) for path in (PACKAGE / "lazyonce").rglob("*.py")}
    headers = {"lazyonce/include/%s" % path.relative_to(REPOSITORY / "include") for path in (REPOSITORY / "include").rglob("*.h*")}
    cmake = {"lazyonce/cmake/%s" % path.name for path in (REPOSITORY / "cmake").glob("lazyonce*.cmake")}
    library = {"lazyonce/lib/liblazyonce.so" + suffix for suffix in ("", ".0", ".0-gdb.py")}
    assert names == here | headers | cmake | library | {"lazyonce/py.typed"}


def test_it_works_in_a_clean_environment_without_a_compiler(installed, tmp_path):
    script = "import lazyonce; seen = []; lazyonce.lazy_call(lambda: seen.append(1)); lazyonce.lazy_init(); print(seen)"
    assert run(installed, "-c", script, env=clean(), cwd=tmp_path) == "[1]\n"
    package = Path(run(installed, "-c", "import lazyonce; print(lazyonce.__path__[0])", env=clean(), cwd=tmp_path).strip())
    flags = [run(installed, "-m", "lazyonce", flag, env=clean(), cwd=tmp_path).strip() for flag in ("--includes", "--libdir")]
    assert flags == ["-I%s" % (package / "include"), str(package / "lib")]


def test_the_folder_of_the_cmake_package(installed, tmp_path):
    asked = subprocess.run([str(installed), "-m", "lazyonce", "--cmakedir"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, env=clean(), cwd=tmp_path, timeout=LIMIT)
    if list((REPOSITORY / "cmake").glob("lazyonce*.cmake")):
        assert asked.returncode == 0 and list(Path(asked.stdout.strip()).glob("lazyonce*.cmake"))
    else:
        assert asked.returncode == 1 and "holds no" in asked.stderr and asked.stdout == ""


EXTENSION = r"""
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <lazyonce/python.h>

static int32_t count(void *ctx) { ++*(int *)ctx; return 0; }
static int counted;

static PyObject *use(PyObject *self, PyObject *args) {
    const char *name;
    lazy_status status;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    if (lazy_host_cpython() == NULL || lazy_host_python() == NULL) return PyErr_Format(PyExc_RuntimeError, "no host");
    status = LAZY_CALL_HELD(lazy_once_named(name), count, &counted);
    return Py_BuildValue("ii", (int)status, counted);
}

static PyMethodDef methods[] = { { "use", use, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, "user", NULL, -1, methods, NULL, NULL, NULL, NULL };
PyMODINIT_FUNC PyInit_user(void) { return PyModule_Create(&module); }
"""
SETUP = """
import subprocess, sys
from setuptools import Extension, setup
def ask(flag): return subprocess.check_output([%r, "-m", "lazyonce", flag], text=True).strip()
setup(name="user", ext_modules=[Extension("user", ["user.c"], extra_compile_args=[ask("--includes"), "-Wall", "-Werror"],
      library_dirs=[ask("--libdir")], runtime_library_dirs=[ask("--libdir")] if %r else [], libraries=["lazyonce"])])
"""


@pytest.mark.parametrize("finds_it_itself", [False, True])
def test_an_extension_builds_with_what_the_wheel_holds(installed, tmp_path, finds_it_itself):
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    if not shutil.which("cc") or not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("no C compiler, or no Python.h")
    (tmp_path / "user.c").write_text(EXTENSION)
    (tmp_path / "setup.py").write_text(SETUP % (str(installed), finds_it_itself))
    build = {**clean(), "PATH": os.environ["PATH"]}
    run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=tmp_path, env=build)
    first = "" if finds_it_itself else "import lazyonce\n"  # the loader then finds the library by its name in the process
    script = first + """if True:
        import user
        print(user.use("shared"))
        import lazyonce
        once = lazyonce.named("shared")
        print(once.init(), user.use("shared"))
    """
    assert run(installed, "-c", script, env=clean(), cwd=tmp_path) == "(1, 0)\nTrue (0, 2)\n"


def test_outside_a_checkout_the_build_says_what_it_needs(tmp_path):
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "tests")
    source = shutil.copytree(PACKAGE, tmp_path / "elsewhere" / "python", ignore=ignored)
    done = subprocess.run(list(map(str, pip_wheel(source, tmp_path))), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LIMIT)
    assert done.returncode != 0 and "built from a checkout of lazyonce" in done.stdout


def test_the_demo():
    said = python("-m", "lazyonce", "demo")
    assert said.count("HANG") == 2 and said.count("known answer") == 2 and said.endswith("all as claimed\n")
    assert "\033" not in said and max(map(len, said.splitlines())) <= 100


def test_the_demo_has_colours_in_a_terminal():
    ours, theirs = os.openpty()
    done = subprocess.Popen([sys.executable, "-m", "lazyonce", "demo"], stdout=theirs, env=environment(NO_COLOR="", TERM="xterm"))
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 4096)
        except OSError:  # the end of a terminal
            break
    os.close(ours)
    assert done.wait(timeout=LIMIT) == 0 and said.count(b"\033[31mHANG") == 2 and said.count(b"\033[32mdone") == 2
