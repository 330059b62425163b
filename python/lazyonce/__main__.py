"""`python -m lazyonce`: what a build of an extension needs to know, the demo, and what was traced."""
import argparse
import sys
from pathlib import Path

from . import __version__

PACKAGE = Path(__file__).resolve().parent


def _folder(*candidates: Path, holding: str) -> Path:
    for each in candidates:
        if next(each.glob(holding), None):
            return each
    sys.exit("lazyonce: this package holds no %s: it is not in %s" % (holding, " or ".join(map(str, candidates))))


def _includes() -> str:
    return "-I%s" % _folder(PACKAGE / "include", PACKAGE.parent.parent / "include", holding="lazyonce.h")


def _libdir() -> str:
    from ._library import LIBRARY
    return str(_folder(PACKAGE / "lib", Path(LIBRARY._name).resolve().parent, holding="liblazyonce.so"))


def _cmakedir() -> str:
    return str(_folder(PACKAGE / "cmake", holding="lazyonceConfig.cmake"))


def main() -> int:
    if sys.argv[1:2] == ["trace"]:
        from ._trace import main as trace
        return trace(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m lazyonce", description="lazyonce %s" % __version__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--includes", action="store_true", help="the compiler's -I flags for the headers")
    what.add_argument("--libdir", action="store_true", help="the folder of the library, for -L and -rpath")
    what.add_argument("--cmakedir", action="store_true", help="the folder of the CMake package, for lazyonce_DIR")
    what.add_argument("command", nargs="?", choices=["demo", "trace"],
                      help="demo: an old gate and this one side by side; trace FILE...: what LAZYONCE_TRACE wrote")
    arguments = parser.parse_args()
    if arguments.command:
        from ._demo import demo
        return demo()
    print(_includes() if arguments.includes else _libdir() if arguments.libdir else _cmakedir())
    return 0


if __name__ == "__main__":
    sys.exit(main())
