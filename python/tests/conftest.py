import gc

import alone  # noqa: F401  says where the library is, before a test imports the package
import pytest


@pytest.fixture
def no_collector():
    """What is released is released by its last reference."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def device():
    """A module of PyTorch's shape, which is its own again afterwards."""
    import lazyonce.torch
    from standin import Device

    device = Device()
    yield device
    lazyonce.torch.uninstall(device.module)


def pytest_terminal_summary(terminalreporter):
    """The line that .ci/run counts."""
    count = {kind: len(terminalreporter.stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped")}
    counts = count["passed"], count["failed"] + count["error"], count["skipped"]
    terminalreporter.write_line("%d passed, %d failed, %d skipped (python package)" % counts)
