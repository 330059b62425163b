"""Puts the library, its headers and its CMake package into the wheel. The rest is in pyproject.toml."""
import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent


def built_library():
    """The shared library, built by cargo."""
    if not (REPOSITORY / "Cargo.toml").exists():
        raise SetupError("the wheel is built from a checkout of lazyonce, where the Rust sources are: pip install ./python")
    if not shutil.which("cargo"):
        raise SetupError("the wheel needs cargo to build the library: install Rust 1.88 or newer")
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    subprocess.run(["cargo", "build", "--release", "--lib", "--target-dir", target], cwd=REPOSITORY, check=True)
    return target / "release" / "liblazyonce.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = (HERE if self.editable_mode else Path(self.build_lib)) / "lazyonce"
        libraries = package / "lib"
        for folder in (libraries, package / "include", package / "cmake"):
            shutil.rmtree(folder, ignore_errors=True)
        libraries.mkdir(parents=True)
        shutil.copy(built_library(), libraries / "liblazyonce.so.0")
        shutil.copy(REPOSITORY / "cmake" / "lazyonce-gdb.py", libraries / "liblazyonce.so.0-gdb.py")  # where gdb looks for it
        # A wheel holds no links: the name to link with is a linker script.
        (libraries / "liblazyonce.so").write_text("INPUT(liblazyonce.so.0)\n")
        shutil.copytree(REPOSITORY / "include", package / "include")
        for file in (REPOSITORY / "cmake").glob("lazyonce*.cmake"):
            (package / "cmake").mkdir(exist_ok=True)
            shutil.copy(file, package / "cmake")


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel}, distclass=PlatformDistribution)
