import alone  # noqa: F401  says where the library is, before a test imports the package


def pytest_terminal_summary(terminalreporter):
    """The line that .ci/run counts."""
    count = {kind: len(terminalreporter.stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped")}
    counts = count["passed"], count["failed"] + count["error"], count["skipped"]
    terminalreporter.write_line("%d passed, %d failed, %d skipped (python package)" % counts)
