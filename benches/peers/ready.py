"""What a call on a ready once costs in Python: lines of a name and the nanoseconds of one call, in turns. Arguments: how many rounds."""
import random
import sys
import timeit

import lazyonce

CALLS = 2000
FLOW = """
initialized = True
def is_in_bad_fork(): return False
def is_initialized(): return initialized and not is_in_bad_fork()
def lazy_call(callable, **kwargs):
    if is_initialized(): callable()
"""


def torchs_own(space):
    import torch

    torch.cuda._initialized = True
    space["own_lazy_call"] = torch.cuda._lazy_call


space = {"once": lazyonce.Once("gpu"), "fn": lambda: None}
space["once"].init()
exec(FLOW, space)
timers = {
    "Once.call": timeit.Timer("once.call(fn)", globals=space),
    "PyTorch's fixed _lazy_call, in Python": timeit.Timer("lazy_call(fn)", globals=space),
    "direct call, in Python": timeit.Timer("fn()", globals=space),
}
try:
    torchs_own(space)
    timers["PyTorch's own _lazy_call"] = timeit.Timer("own_lazy_call(fn)", globals=space)
except Exception as why:
    print("PyTorch's own _lazy_call", why, sep="\t")
order = list(timers)
for round in range(-3, int(sys.argv[1])):
    random.shuffle(order)
    for name in order:
        nanoseconds = timers[name].timeit(CALLS) / CALLS * 1e9
        if round >= 0:
            print(name, nanoseconds, sep="\t")
