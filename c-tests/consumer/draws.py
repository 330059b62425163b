"""examples/pybind11: nothing starts before it is needed, a failed start can be tried again, and what waited for it has run."""

import sys

import extension

extension.seed(7)
assert "random" not in sys.modules
sys.modules["random"] = None
try:
    extension.draw()
except ImportError:
    del sys.modules["random"]
else:
    raise AssertionError("a start that cannot import has not failed")
number = extension.draw()

import random

assert number == random.Random(7).random()
extension.seed(7)
assert extension.draw() == number
print("done")
