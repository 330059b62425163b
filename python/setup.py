"""Puts the library, its headers and its CMake package into the wheel. The rest is in pyproject.toml."""
import os
import shutil
import struct
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import SetupError

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
# What configure_package_config_file would write, for a package that has include, lib and cmake beside each other.
INIT = """get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
macro(check_required_components name)
    foreach(component ${${name}_FIND_COMPONENTS})
        if(NOT ${name}_${component}_FOUND AND ${name}_FIND_REQUIRED_${component})
            set(${name}_FOUND FALSE)
        endif()
    endforeach()
endmacro()"""
# What write_basic_package_version_file would write for SameMajorVersion.
VERSION = """set(PACKAGE_VERSION "%(version)s")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION_RANGE)
    if(PACKAGE_FIND_VERSION_MIN_MAJOR EQUAL %(major)s AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MIN
        AND (PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX
            OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE" AND PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION_MAX)))
        set(PACKAGE_VERSION_COMPATIBLE TRUE)
    endif()
elseif(PACKAGE_FIND_VERSION_MAJOR EQUAL %(major)s AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
    if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
endif()
if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL %(pointer)d)
    set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()
"""


def built_library():
    """The shared library, built by cargo."""
    if not (REPOSITORY / "Cargo.toml").exists():
        raise SetupError("the wheel is built from a checkout of lazyonce, where the Rust sources are: pip install ./python")
    if not shutil.which("cargo"):
        raise SetupError("the wheel needs cargo to build the library: install Rust 1.88 or newer")
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    subprocess.run(["cargo", "build", "--release", "--lib", "--target-dir", target], cwd=REPOSITORY, check=True)
    return target / "release" / "liblazyonce.so"


def write_cmake_package(folder, version):
    """The files that `cmake --install` would put there."""
    folder.mkdir()
    shutil.copy(REPOSITORY / "cmake" / "lazyonceTargets.cmake", folder)
    config = (REPOSITORY / "cmake" / "lazyonceConfig.cmake.in").read_text()
    for name, text in {
        "PACKAGE_INIT": INIT, "PACKAGE_CMAKE_INSTALL_INCLUDEDIR": "${PACKAGE_PREFIX_DIR}/include",
        "PACKAGE_CMAKE_INSTALL_LIBDIR": "${PACKAGE_PREFIX_DIR}/lib",
    }.items():
        config = config.replace("@%s@" % name, text)
    (folder / "lazyonceConfig.cmake").write_text(config)
    numbers = {"version": version, "major": version.split(".")[0], "pointer": struct.calcsize("P")}
    (folder / "lazyonceConfigVersion.cmake").write_text(VERSION % numbers)


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
        write_cmake_package(package / "cmake", self.distribution.get_version())


class NoSource(sdist):
    def run(self):
        raise SetupError("lazyonce has no source distribution for Python: what it builds from is the whole checkout. Build a wheel there: "
                         "pip wheel --no-deps ./python, or python -m build --wheel python")


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel, "sdist": NoSource}, distclass=PlatformDistribution)
