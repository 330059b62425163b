"""The wheel: what is in it, that it needs no compiler, and that an extension builds with what it holds."""
import os
import re
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
    cmake = {"lazyonce/cmake/lazyonce%s.cmake" % name for name in ("Config", "ConfigVersion", "Targets")}
    library = {"lazyonce/lib/liblazyonce.so" + suffix for suffix in ("", ".0", ".0-gdb.py")}
    assert names == here | headers | cmake | library | {"lazyonce/py.typed"}


def test_the_licences_are_in_it(wheel):
    files = zipfile.ZipFile(wheel)
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        inside = [name for name in files.namelist() if ".dist-info/" in name and name.endswith("/" + licence)]
        assert len(inside) == 1 and files.read(inside[0]) == (REPOSITORY / licence).read_bytes()


def test_it_works_in_a_clean_environment_without_a_compiler(installed, tmp_path):
    script = "import lazyonce; seen = []; lazyonce.lazy_call(lambda: seen.append(1)); lazyonce.lazy_init(); print(seen)"
    assert run(installed, "-c", script, env=clean(), cwd=tmp_path) == "[1]\n"
    package = Path(run(installed, "-c", "import lazyonce; print(lazyonce.__path__[0])", env=clean(), cwd=tmp_path).strip())
    flags = [run(installed, "-m", "lazyonce", flag, env=clean(), cwd=tmp_path).strip() for flag in ("--includes", "--libdir")]
    assert flags == ["-I%s" % (package / "include"), str(package / "lib")]


def ask(interpreter, flag):
    return run(interpreter, "-m", "lazyonce", flag, env=clean(), cwd=interpreter.parent).strip()  # not the checkout's


CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(lazyonce %s REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE lazyonce::lazyonce)
"""
PROGRAM = """
#include <lazyonce.h>
int main(void) { return lazy_init() != LAZY_OK || !is_initialized(); }
"""


def configure(folder, installed, asked):
    """Whether CMake finds the package for that version, and all that it says."""
    build = folder / ("build " + asked)
    (folder / "CMakeLists.txt").write_text(CMAKE % asked)
    (folder / "user.c").write_text(PROGRAM)
    command = ["cmake", "-S", folder, "-B", build, "-Dlazyonce_DIR=" + ask(installed, "--cmakedir")]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                          env={**clean(), "PATH": os.environ["PATH"]})
    return build, done.returncode == 0, done.stdout


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("cc"), reason="no CMake or no C compiler")
def test_a_project_finds_it_with_cmake_and_builds(installed, tmp_path):
    assert ask(installed, "--cmakedir").endswith("/lazyonce/cmake")
    build, found, said = configure(tmp_path, installed, "0.1")
    assert found, said
    run("cmake", "--build", build, env={**clean(), "PATH": os.environ["PATH"]})
    run(build / "user", env=clean())


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("cc"), reason="no CMake or no C compiler")
def test_cmake_finds_it_for_the_versions_that_a_prefix_would_be_found_for(installed, tmp_path):
    for asked, is_found in {"": True, "0.1.0 EXACT": True, "0.0.9": True, "0.2": False, "1.0": False, "0.0.9 EXACT": False}.items():
        _, found, said = configure(tmp_path, installed, asked)
        assert found is is_found, asked + said


def test_a_checkout_says_that_it_has_no_cmake_package(tmp_path):
    ignored = shutil.ignore_patterns("cmake", "__pycache__")
    shutil.copytree(PACKAGE / "lazyonce", tmp_path / "lazyonce", ignore=ignored)
    (tmp_path / "lazyonce" / "cmake").mkdir()
    shutil.copy(REPOSITORY / "cmake" / "lazyonceTargets.cmake", tmp_path / "lazyonce" / "cmake")
    asked = subprocess.run([sys.executable, "-m", "lazyonce", "--cmakedir"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env=environment(PYTHONPATH=str(tmp_path)), cwd=tmp_path, timeout=LIMIT)
    assert asked.returncode == 1 and "holds no lazyonceConfig.cmake" in asked.stderr and asked.stdout == ""


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


def section(kind):
    """The blocks of that language in the README's section about extensions."""
    text = (PACKAGE / "README.md").read_text().split("## Building an extension\n")[1].split("\n## ")[0]
    if kind == "commands":
        return re.findall(r"^    (\S.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return re.findall(r"^```%s\n(.*?)^```$" % kind, text, re.M | re.S)


@pytest.mark.parametrize("way", ["cc", "setuptools"])
def test_the_readme_s_ways_to_build_an_extension(installed, tmp_path, way):
    if not shutil.which("cc") or not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("no C compiler, or no Python.h")
    compile_, use, build = section("commands")
    (tmp_path / "ext.c").write_text(*section("c"))
    (tmp_path / "setup.py").write_text(*section("python"))
    shell = {**clean(), "PATH": "%s:%s" % (installed.parent, os.environ["PATH"])}
    if way == "setuptools":
        pytest.importorskip("setuptools", reason="setuptools is not installed")
        package = Path(ask(installed, "--libdir")).parent.parent
        # The interpreter that has setuptools, with the package of the wheel.
        others = {**shell, "PYTHONPATH": str(package)}
        run("bash", "-c", build.replace("python", '"$0"', 1), sys.executable, cwd=tmp_path, env=others)
    else:
        run("bash", "-c", compile_, cwd=tmp_path, env=shell)
    assert run("bash", "-c", use, cwd=tmp_path, env=shell) == "seeded\n"


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


def test_a_source_distribution_is_refused_with_what_to_do_instead(tmp_path):
    pytest.importorskip("setuptools", "70.1", reason="setuptools 70.1 is not installed")
    done = subprocess.run([sys.executable, "setup.py", "-q", "sdist", "-d", str(tmp_path)], cwd=PACKAGE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
    assert done.returncode != 0 and "no source distribution" in done.stdout and "pip wheel" in done.stdout
    assert not list(tmp_path.iterdir())


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
