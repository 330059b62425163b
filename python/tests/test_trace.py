"""`python -m lazyonce trace` with the traces of real processes."""
import re
import shutil
import signal
import subprocess
import sys
from html import unescape

import pytest
from alone import LIMIT, REPOSITORY, environment, python
from traces import TOOL, bars, check_nesting, events_of, line, picture, section, traced

THREADS = """
import os, threading, time
from pathlib import Path
from child import run_threads
from lazyonce import Once

inside, tries = threading.Event(), []
def start():
    inside.set()
    while '"cat":"wait"' not in Path(os.environ["LAZYONCE_TRACE"]).read_text(): time.sleep(0.001)
def fails():
    tries.append(1)
    if len(tries) == 1: raise OSError("no device")
def inner(): other.init()
gpu, other, bad = Once("gpu", start), Once("other <&>"), Once("bad", fails)
def wait():
    inside.wait()
    gpu.init()                                          # line WAIT
gpu.call(inner)                                         # line INNER
gpu.call(lambda: None)                                  # line PLAIN
run_threads(lambda: gpu.init(), wait)                   # line OWNER
for _ in range(2):
    try: bad.init()
    except OSError: pass
"""


def test_attempts_callbacks_waits_and_failures_of_threads(tmp_path):
    trace = traced(tmp_path, THREADS)
    said = python(*TOOL, trace, "-o", tmp_path / "trace.svg")
    attempts = section(said, "attempts")
    assert [(each["of"], each["attempt"], each["outcome"]) for each in attempts] == [
        ('once "gpu"', "1", "success"), ('once "other <&>"', "1", "success"), ('once "bad"', "1", "the initializer failed"),
        ('once "bad"', "2", "success"),
    ]
    assert attempts[0]["started at"].endswith("prog.py:%d (<lambda>)" % line(THREADS, "OWNER"))
    callbacks = section(said, "callbacks")
    assert [(each["of"], each["outcome"]) for each in callbacks] == [('once "gpu"', "success")] * 2
    assert {each["thread"] for each in callbacks} == {attempts[0]["thread"]}
    for each, mark in zip(callbacks, ("INNER", "PLAIN")):
        assert "prog.py:%d " % line(THREADS, mark) in each["handed in at"]
        assert float(attempts[0]["start"]) < float(each["start"]) < float(attempts[0]["start"]) + float(attempts[0]["took"])
    wait, = section(said, "waits")
    assert "prog.py:%d " % line(THREADS, "WAIT") in wait["called at"]
    assert (wait["for"], wait["of thread"], wait["outcome"]) == ('once "gpu"', attempts[0]["thread"], "success")
    assert wait["for what was started or handed in at"] == attempts[0]["started at"] and "it hung" not in said
    assert wait["thread"] != wait["of thread"] and float(wait["took"]) > 0
    assert float(attempts[0]["start"]) < float(wait["start"]) < float(attempts[0]["start"]) + float(attempts[0]["took"])
    assert "not ended" not in said
    threads = {each["thread"]: each for each in section(said, "threads")}
    assert threads[wait["thread"]]["waits"] == "1" and int(threads[wait["thread"]]["for the host's lock"]) >= 1
    totals = {each["of"]: each for each in section(said, "totals")}
    assert [totals['once "bad"'][column] for column in ("attempts", "failed")] == ["2", "1"]
    assert [totals["all"][column] for column in ("attempts", "failed", "callbacks", "waits")] == ["4", "1", "2", "1"]

    assert len(bars(tmp_path / "trace.svg", "attempt")) >= 1 and "initialize" in bars(tmp_path / "trace.svg", "attempt")[0]
    assert any("which thread %s is doing" % wait["of thread"] in tip for tip in bars(tmp_path / "trace.svg", "wait"))
    assert any("initializer failed" in tip for style, tip in picture(tmp_path / "trace.svg") if "failed" in style)


SLOT = """
import os, threading, time
from pathlib import Path
from child import run_threads
from lazyonce import Slot

inside = threading.Event()
def make(index):
    inside.set()
    while '"cat":"wait"' not in Path(os.environ["LAZYONCE_TRACE"]).read_text(): time.sleep(0.001)
    HOW
slot = Slot(make, scope="process")
def wait():
    inside.wait()
    slot.get()
def make_it():
    slot.get()
run_threads(make_it, wait)
"""


@pytest.mark.parametrize("how, ends_by", [("return 1", 0), ("os.kill(os.getpid(), 9)", signal.SIGKILL)], ids=["ends", "hangs"])
def test_a_factory_and_the_wait_for_it(tmp_path, how, ends_by):
    said = python(*TOOL, traced(tmp_path, SLOT.replace("HOW", how), ends_by=ends_by), "-o", tmp_path / "trace.svg")
    (wait,), (factory,) = section(said, "waits"), section(said, "factories")
    assert factory["of"] == 'slot "make"' and factory["index"] == "0" and wait["for"] == 'slot "make", index 0'
    assert factory["called at"].endswith(" (make_it)") and wait["called at"].endswith(" (wait)")
    assert re.search(r":\d+ ", factory["called at"]) and factory["called at"] == wait["for what was started or handed in at"]
    assert wait["of thread"] == factory["thread"] != wait["thread"] and float(factory["start"]) < float(wait["start"])
    assert factory["outcome"] == ("not ended" if ends_by else "success")
    assert "unknown place" not in said and "unknown place" not in (tmp_path / "trace.svg").read_text()
    assert ('wait for slot "make", index 0, of thread %s, called at ' % factory["thread"] in said) == bool(ends_by)
    assert ('factory of slot "make", index 0, called at' in said) == bool(ends_by)
    assert len(bars(tmp_path / "trace.svg", "factory open" if ends_by else "factory")) >= 1
    assert '%smakes slot "make", index 0<' % ("NOT ENDED: " if ends_by else "") in unescape((tmp_path / "trace.svg").read_text())


UNNAMED = """
import lazyonce

once = lazyonce.Once("")
for each in (once, lazyonce._default):
    each.call(lambda: None)
    each.init()
def make(index): 1 / 0
try: lazyonce.Slot(make, scope="process").get(4)
except ZeroDivisionError: pass
"""


def test_what_has_no_name_is_called_the_same_everywhere_and_a_failed_factory_counts(tmp_path):
    said = python(*TOOL, traced(tmp_path, UNNAMED), "-o", tmp_path / "trace.svg")
    for title in ("attempts", "callbacks"):
        assert [each["of"] for each in section(said, title)] == ["an unnamed once"] * 2
    assert section(said, "factories")[0]["outcome"] == "the factory failed"
    totals = {each["of"]: [each[column] for column in ("attempts", "factories", "failed")] for each in section(said, "totals")}
    assert totals == {"an unnamed once": ["2", "0", "0"], 'slot "make"': ["0", "1", "1"], "all": ["2", "1", "1"]}
    thread, = section(said, "threads")
    assert [thread[column] for column in ("attempts", "callbacks", "factories")] == ["2", "2", "1"]
    drawn = unescape((tmp_path / "trace.svg").read_text())
    assert "no name" not in said + drawn and "initialize an unnamed once" in drawn


MANY = """
import os, threading, time
from pathlib import Path
from child import run_threads
from lazyonce import Slot

begun, over = threading.Barrier(3), threading.Event()
def make(index):
    begun.wait()
    if index == 2:
        while '"cat":"wait"' not in Path(os.environ["LAZYONCE_TRACE"]).read_text(): time.sleep(0.001)
    else:
        over.wait()
    over.set()
slot = Slot(make, scope="process")
def get(index):
    slot.get(index)
def wait():
    begun.wait()
    get(2)
run_threads(lambda: get(1), lambda: get(2), wait)
"""


def test_of_several_factories_that_were_called_at_one_place_the_one_with_the_index_is_waited_for(tmp_path):
    said = python(*TOOL, traced(tmp_path, MANY), "-o", tmp_path / "trace.svg")
    (wait,), factories = section(said, "waits"), section(said, "factories")
    makers = {each["index"]: each["thread"] for each in factories}
    assert len({each["called at"] for each in factories}) == 1 and len(set(makers.values())) == 2
    assert wait["of thread"] == makers["2"] and wait["for"] == 'slot "make", index 2'


FORK = """
import os, sys
from lazyonce import Once

def fork():
    global child
    child = os.fork()
    if child: assert os.waitpid(child, 0)[1] == 0
once = Once("mine", fork)
once.init()
if not child: Once("its").init()
"""


def test_a_forked_child_in_the_same_file_and_in_its_own(tmp_path):
    trace = traced(tmp_path, FORK)
    said = python(*TOOL, trace, "-o", tmp_path / "trace.svg")
    fork, = section(said, "forks")
    processes = {each["of"]: each["process"] for each in section(said, "attempts")}
    assert processes == {'once "mine"': fork["of"], 'once "its"': fork["process"]}
    assert "forked off by process %s" % fork["of"] in (tmp_path / "trace.svg").read_text()
    assert "not ended" not in said and fork["in the middle of"].startswith('initialize once "mine", started at ')

    traces = traced(tmp_path, FORK, "own.%p.json")
    assert len(traces) == 2
    said = python(*TOOL, *traces, "--merge", tmp_path / "merged.json")
    fork, = section(said, "forks")
    assert {fork["process"], fork["of"]} == {path.name.split(".")[1] for path in traces}
    assert fork["in the middle of"].startswith('initialize once "mine", started at ')
    mark, = [each for each in events_of(tmp_path / "merged.json") if each["ph"] == "i"]
    assert [str(mark["pid"]), str(mark["args"]["parent"])] == [fork["process"], fork["of"]]


DIES = """
import os, signal
from lazyonce import Once

def dies():
    HOW
once = Once("gpu")
once.call(dies)
once.init()
"""


@pytest.mark.parametrize("how, number", [("os.abort()", signal.SIGABRT), ("os.kill(os.getpid(), signal.SIGKILL)", signal.SIGKILL)])
def test_what_a_process_was_doing_when_it_died(tmp_path, how, number):
    trace = traced(tmp_path, DIES.replace("HOW", how), ends_by=number)
    for text in (trace.read_text(), trace.read_text() + '{"ph":"E","pid":1,"ti'):  # and in the middle of a line
        trace.write_text(text)
        said = python(*TOOL, trace, "-o", tmp_path / "trace.svg", "--merge", tmp_path / "merged.json")
        left = section(said, "not ended")
        assert ["initialize once" in left[0]["what"], "callback from" in left[1]["what"], len(left)] == [True, True, 2]
        assert [each["outcome"] for each in section(said, "attempts") + section(said, "callbacks")] == ["not ended"] * 2
        assert section(said, "attempts")[0]["took"].startswith(">")
        assert len(bars(tmp_path / "trace.svg", "attempt open")) == len(bars(tmp_path / "trace.svg", "request open")) == 1
        still_open = check_nesting(events_of(tmp_path / "merged.json"))
        assert [kinds for kinds in still_open.values() if kinds] == [["attempt", "request"]]
    assert "1 piece could not be read" in said


def test_equal_process_numbers_of_several_machines_are_kept_apart(tmp_path):
    trace = traced(tmp_path, FORK)
    other = tmp_path / "other.json"
    shutil.copy(trace, other)
    other.write_text(other.read_text().replace('"ts":', '"ts":9'))  # another clock
    said = python(*TOOL, trace, other, "--merge", tmp_path / "merged.json", "-o", tmp_path / "all.svg", "--align", "start")
    events = events_of(tmp_path / "merged.json")
    names = {each["pid"]: each["args"]["name"] for each in events if each.get("name") == "process_name"}
    assert len(names) == 4 and sum("other.json" in name for name in names.values()) == 2
    forks = [(each["pid"], each["args"]["parent"]) for each in events if each["ph"] == "i"]
    assert len(set(forks)) == 2 and {pid for pair in forks for pid in pair} == set(names)
    assert min(each["ts"] for each in events if "ts" in each) == 0
    child, its_parent = forks[0]
    for each, path in zip(section(said, "forks"), (trace, other)):
        assert [each["process"], each["of"]] == ["%s of %s" % (pid, path) for pid in (child, its_parent)]
        assert "forked off by process %s of %s" % (its_parent, path) in (tmp_path / "all.svg").read_text()
    starts = [float(each["start"]) for each in section(said, "attempts")]
    assert starts[0] == starts[1] and starts[2] == starts[3]
    assert python(*TOOL, tmp_path / "merged.json").count("success") == 4  # what was merged can be read again


def test_it_needs_no_library_and_does_not_begin_the_trace_anew(tmp_path):
    trace = traced(tmp_path, DIES.replace("HOW", "pass"))
    before = trace.read_text()
    said = python(*TOOL, trace, env=environment(LAZYONCE_TRACE=str(trace)))
    assert "success" in said and trace.read_text() == before
    assert python(*TOOL, trace, env=environment(LAZYONCE_LIBRARY="/nowhere")) == said


def test_the_example(tmp_path):
    trace = traced(tmp_path, (REPOSITORY / "examples" / "traced.py").read_text(), ends_by=signal.SIGKILL)
    said = python(*TOOL, trace)
    assert {'once "driver"', 'once "table"'} <= {each["of"] for each in section(said, "attempts")} and section(said, "forks")
    assert [each["failed"] for each in section(said, "totals") if each["of"] == 'once "table"'] == ["1"]


HANGS = """
import os, threading, time
from pathlib import Path
from child import start_daemon
from lazyonce import Once

once, inside = Once("gpu"), threading.Event()
def hang():
    inside.set()
    while Path(os.environ["LAZYONCE_TRACE"]).read_text().count('"cat":"wait"') < 2: time.sleep(0.001)
    os.kill(os.getpid(), 9)
once.call(hang)
def wait():
    inside.wait()
    once.init()
for _ in range(2): start_daemon(wait)
once.init()
"""


def test_no_sum_reads_a_hang_as_no_wait(tmp_path):
    said = python(*TOOL, traced(tmp_path, HANGS, ends_by=signal.SIGKILL))
    waits = section(said, "waits")
    assert len(waits) == 2 and all(each["took"].startswith("> ") for each in waits)
    lines = [re.split(r"  +", each.strip()) for each in said.splitlines()]
    sums, = [each for each in lines if each[0] == "all"]
    # attempts, factories, failed, ms, callbacks, waits, ms, longest
    assert [sums[1], sums[5], sums[6]] == ["1", "1", "2"] and all(sums[column].startswith("> ") for column in (4, 7, 8))
    begin = next(index for index, each in enumerate(lines) if each == ["threads"])
    threads = {each[1]: each for each in lines[begin + 2:begin + 5]}
    for each in waits:
        # attempts, ms, callbacks, ms, factories, ms, waits, ms
        row = threads[each["thread"]]
        assert row[8] == "1" and row[9].startswith("> ") and row[3] == "0.000"
    owner = threads[waits[0]["of thread"]]
    assert owner[3].startswith("> ") and owner[5].startswith("> ") and owner[9] == "0.000"
    assert said.count("the trace ends at its last event; how long it hung after that is not known") == 1


RANK = """
import os
from lazyonce import Once

once = Once("rank " + os.environ["OMPI_COMM_WORLD_RANK"])
once.call(lambda: None)
once.init()
"""


def test_the_ranks_of_mpirun_in_one_trace(tmp_path):
    if not shutil.which("mpirun"):
        pytest.skip("no mpirun")
    (tmp_path / "prog.py").write_text(RANK)
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", sys.executable, str(tmp_path / "prog.py")]
    subprocess.run(command, env=environment(LAZYONCE_TRACE=str(tmp_path / "trace.%p.json")), check=True, timeout=LIMIT)
    traces = sorted(tmp_path.glob("trace.*.json"))
    assert len(traces) == 4
    said = python(*TOOL, *traces, "-o", tmp_path / "all.svg", "--merge", tmp_path / "all.json")
    assert sorted(each["of"] for each in section(said, "attempts")) == ['once "rank %d"' % rank for rank in range(4)]
    assert len({each["pid"] for each in events_of(tmp_path / "all.json")}) == 4
    for path in traces:
        assert "(%s)" % path.name in (tmp_path / "all.svg").read_text()
