"""The library: where it is found, what its structs look like, and that the call on a ready once costs nothing."""
import ctypes
import re
import shutil
import statistics
import subprocess
import timeit
from pathlib import Path

import pytest
from alone import REPOSITORY, environment, python

import lazyonce
from lazyonce import _library

HEADER = REPOSITORY / "include"
FOUND = Path(_library.LIBRARY._name).resolve()
STRUCTS = {
    "lazy_site": "Site", "lazy_config": "Config", "lazy_request": "Request", "lazy_receipt": "Receipt", "lazy_error": "Error",
    "lazy_info": "Info", "lazy_slot_config": "SlotConfig",
}


def test_the_structs_are_those_of_the_header(tmp_path):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    lines = []
    for name, twin in STRUCTS.items():
        lines.append('printf("%s %%zu\\n", sizeof(%s));' % (twin, name))
        for field, *_ in getattr(_library, twin)._fields_:
            place = "offsetof(%s, %s), sizeof(((%s *)0)->%s)" % (name, field, name, field)
            lines.append('printf("%s.%s %%zu %%zu\\n", %s);' % (twin, field, place))
    source = "#include <lazyonce.h>\n#include <stdio.h>\nint main(void) { %s return 0; }\n" % "\n".join(lines)
    (tmp_path / "layout.c").write_text(source)
    subprocess.run([compiler, "-I", str(HEADER), "-o", "layout", "layout.c"], cwd=tmp_path, check=True)
    theirs = subprocess.run([str(tmp_path / "layout")], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    ours = []
    for twin in STRUCTS.values():
        struct = getattr(_library, twin)
        ours.append("%s %d" % (twin, ctypes.sizeof(struct)))
        for field, *_ in struct._fields_:
            at = getattr(struct, field)
            ours.append("%s.%s %d %d" % (twin, field, at.offset, at.size))
    assert theirs == ours + [""]


def test_the_statuses_are_those_of_the_header():
    text = (HEADER / "lazyonce.h").read_text()
    numbers = {name: int(value) for name, value in re.findall(r"#define (LAZY_\w+) (-?\d+)$", text, re.M)}
    for kind, name in {
        "InitError": "INIT", "DeferredCallError": "DEFERRED", "ForkedError": "FORKED", "ClosedError": "CLOSED",
        "DeadlockError": "DEADLOCK", "WaitTimeout": "TIMEOUT", "NotNow": "NOT_NOW", "LazyError": "INVALID",
        "BackendUnavailable": "UNAVAILABLE",
    }.items():
        assert getattr(lazyonce, kind).status == numbers["LAZY_E_" + name]
    assert (_library.OK, _library.QUEUED, _library.IN_PROGRESS, _library.READY) == tuple(
        numbers["LAZY_" + name] for name in ("OK", "QUEUED", "IN_PROGRESS", "READY"))


WHERE = "import lazyonce, lazyonce._library as l; print(l.LIBRARY._name)"


def copy_of_the_package(folder):
    return shutil.copytree(_library.PACKAGE, folder / "lazyonce", ignore=shutil.ignore_patterns("__pycache__", "lib"))


def without(name, **more):
    return {key: value for key, value in environment(**more).items() if key != name}


def test_it_is_looked_for_in_the_environment_beside_the_package_and_by_the_loader(tmp_path):
    package = copy_of_the_package(tmp_path)
    ours = dict(PYTHONPATH=str(tmp_path))
    assert python("-c", WHERE, env=environment(LAZYONCE_LIBRARY=str(FOUND), **ours), cwd=tmp_path).strip() == str(FOUND)
    loader = tmp_path / "loader"
    for folder in (loader, package / "lib"):
        folder.mkdir()
        shutil.copy(FOUND, folder / "liblazyonce.so.0")
        if folder == loader:
            seen = python("-c", WHERE, env=without("LAZYONCE_LIBRARY", LD_LIBRARY_PATH=str(loader), **ours), cwd=tmp_path)
            assert seen.strip() == "liblazyonce.so.0"
    seen = python("-c", WHERE, env=without("LAZYONCE_LIBRARY", LD_LIBRARY_PATH=str(loader), **ours), cwd=tmp_path)
    assert seen.strip() == str(package / "lib" / "liblazyonce.so.0")


def test_what_cannot_be_loaded_is_an_import_error_that_says_where_it_looked(tmp_path):
    copy_of_the_package(tmp_path)
    script = "try: import lazyonce\nexcept ImportError as failure: print(failure)"
    for setting in ({}, {"LAZYONCE_LIBRARY": "/nowhere/liblazyonce.so"}):
        said = python("-c", script, env=dict(without("LAZYONCE_LIBRARY", PYTHONPATH=str(tmp_path)), **setting), cwd=tmp_path)
        assert "LAZYONCE_LIBRARY" in said and setting.get("LAZYONCE_LIBRARY", "liblazyonce.so.0") in said
        assert str(tmp_path / "lazyonce" / "lib") in said


def test_another_library_is_an_import_error_that_says_so():
    script = "try: import lazyonce\nexcept ImportError as failure: print(failure)"
    said = python("-c", script, env=environment(LAZYONCE_LIBRARY="libc.so.6"))
    assert "libc.so.6" in said and "is another one" in said and "lazy_version" in said


def test_importing_needs_nothing_but_the_standard_library():
    seen = python("-S", "-c", "import sys, lazyonce; print(sorted(m for m in sys.modules if 'site-packages' in "
                  "(getattr(sys.modules[m], '__file__', None) or '')))")
    assert seen.strip() == "[]"


def test_a_call_on_a_ready_once_is_no_slower_than_the_flow_of_pytorch():
    """The flow of PyTorch's _lazy_call, written in Python; both in turns, and again if the machine is busy."""
    space = {"once": lazyonce.Once("gpu"), "fn": lambda: None}
    space["once"].init()
    exec(
        "initialized = True\n"
        "def is_in_bad_fork(): return False\n"
        "def is_initialized(): return initialized and not is_in_bad_fork()\n"
        "def lazy_call(callable, **kwargs):\n"
        "    if is_initialized(): callable()\n",
        space,
    )
    timers = [timeit.Timer(each, globals=space) for each in ("once.call(fn)", "lazy_call(fn)")]
    for _ in range(5):
        ours, theirs = zip(*[[timer.timeit(5000) for timer in timers] for _ in range(41)])
        ratio = statistics.median(ours) / statistics.median(theirs)
        if ratio <= 1.1:
            break
    print("ratio %.2f" % ratio)
    assert ratio <= 1.1


def blocks(page):
    """The Python programs of a page, each with the text that the page says it prints (the block behind it), or None."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", Path(page).read_text(), re.M | re.S)
    following = found[1:] + [("", "")]
    return [(code, text if kind == "text" else None)
            for (language, code), (kind, text) in zip(found, following) if language == "python" and "from setuptools" not in code]


def test_the_readme_s_ctypes_example():
    code = "\n".join(code for code, _ in blocks(REPOSITORY / "README.md"))
    assert "target/release/liblazyonce.so" in code
    said = python("-c", code.replace("target/release/liblazyonce.so", str(FOUND)))
    assert said == "1 False\nseeded\n0 True\n"


PAGE = Path(__file__).resolve().parent.parent / "README.md"


@pytest.mark.parametrize("number", range(len(blocks(PAGE))))
def test_the_programs_of_the_page(number):
    code, text = blocks(PAGE)[number]
    if re.search(r"^import .*, torch\b", code, re.M):
        pytest.importorskip("torch", reason="torch is not installed")
    said = python("-c", code.replace('"liblazyonce.so.0"', repr(str(FOUND))))
    assert text is None or said == text
