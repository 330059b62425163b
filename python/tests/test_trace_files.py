"""`python -m lazyonce trace` with files that no program of ours wrote, or that are broken, or none at all."""
import json
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
from alone import LIMIT, environment, python
from traces import SVG, TOOL, bars, begin, check_nesting, end, events_of, picture, section


def test_events_of_others_and_their_names_stay_in_the_merged_trace(tmp_path):
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    ours.write_text(json.dumps([begin(1), end(2)]))
    theirs.write_text(json.dumps({"traceEvents": [
        {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "trainer"}},
        {"ph": "X", "pid": 7, "tid": 8, "ts": 1.5, "dur": 1, "name": "step"},
        {"ph": "X", "pid": "gpu", "tid": "s", "ts": 1, "name": "kernel"},
    ]}))
    said = python(*TOOL, ours, theirs, "--merge", tmp_path / "merged.json")
    assert "%s: no event of lazyonce, 2 of others" % theirs in said
    events = events_of(tmp_path / "merged.json")
    names = {each["args"]["name"]: each["pid"] for each in events if each["ph"] == "M"}
    assert set(names) == {"7 (ours.json)", "trainer", "gpu (theirs.json)"} and len(set(names.values())) == 3
    pids = [each["pid"] for each in events if each.get("name") in ("step", "kernel")]
    assert pids == [names["trainer"], names["gpu (theirs.json)"]]


def test_what_was_left_by_longjmp_ends_where_what_is_around_it_ends(tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps([begin(1, "attempt"), begin(2), end(5, "attempt"), end(6, "wait")]))
    said = python(*TOOL, trace, "--merge", tmp_path / "merged.json")
    assert section(said, "callbacks")[0]["outcome"] == "left without an end" and "1 piece could not be read" in said
    assert check_nesting(events_of(tmp_path / "merged.json")) == {(7, 7): []}


def test_many_short_bars_are_drawn_as_few(tmp_path):
    trace = tmp_path / "trace.json"
    events = [each for at in range(20000) for each in (begin(2 * at), end(2 * at + 1))]
    trace.write_text("[\n" + "".join(json.dumps(each) + ",\n" for each in events))
    said = python(*TOOL, trace, "-o", tmp_path / "trace.svg")
    assert said.count("a.c:1 (a)") == 20000
    assert len(bars(tmp_path / "trace.svg", "request")) == 1 and ">20000 callbacks<" in (tmp_path / "trace.svg").read_text()


def test_a_long_time_without_an_event_is_cut_out(tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps([begin(0), end(1000), begin(3600e6), end(3600e6 + 1000)]))
    python(*TOOL, trace, "-o", tmp_path / "trace.svg")
    assert bars(tmp_path / "trace.svg", "cut") == ["3600 s without an event"]
    boxes = xml.parse(tmp_path / "trace.svg").iter(SVG + "rect")
    legend, *widths = [float(box.get("width")) for box in boxes if box.get("class") == "request"]
    assert len(widths) == 2 and min(widths) > 300


@pytest.mark.parametrize("text", ["", "[", "[\n", "[]", '{"traceEvents":[]}'])
def test_a_trace_of_a_process_that_did_nothing(tmp_path, text):
    trace = tmp_path / "trace.json"
    trace.write_text(text)
    said = python(*TOOL, trace, "-o", tmp_path / "trace.svg", "--merge", tmp_path / "merged.json")
    assert "%s: no event of lazyonce\n" % trace in said
    assert picture(tmp_path / "trace.svg") == [] and events_of(tmp_path / "merged.json") == []


def refused(*arguments, told=False):
    """The one line that it says of them, behind the table if that was told."""
    done = subprocess.run([sys.executable, *map(str, TOOL + arguments)], env=environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=LIMIT)
    assert (done.returncode, "totals" in done.stdout, done.stderr.count("\n")) == (2, told, 1), done.stderr
    assert told or not done.stdout
    return done.stderr


def short(content):
    return ascii(content)[:20]


@pytest.mark.parametrize("content", [
    b"hello", b"\0\1\2", b"\xff\xfe[", b"\x1f\x8b\x08", b"{", b'{"traceEvents":[', b'{"a": 1}', b'{"traceEvents":{}}', b"[1, 2]",
    b"[{}]", b'["a"', b"[" * 100000, b"{\"a\":" * 100000, b'[{"ph":"B","ts":' + b"9" * 5000 + b"}]", b'{"traceEvents":[{"ph":5}]}',
    b'[{"ph":"i","cat":"fork","tid":7,"ts":1,"pid":' + b"9" * 4300 + b"}]",
], ids=short)
def test_what_is_no_trace_is_told_in_one_line(tmp_path, content):
    trace = tmp_path / "trace.json"
    trace.write_bytes(content)
    assert str(trace) in refused(trace)


@pytest.mark.parametrize("event", [
    begin("1"), begin(float("nan")), begin(10**400), begin(None), begin(1, tid="x"), begin(1, tid=[]), begin(1, cat=["wait"]),
    begin(1, pid={}), begin(1, args=[]), begin(1, name=5, args={"once": [], "site": None, "number": "x"}), end(1),
    end(1, args={"status": "x"}), 5, None, {"ph": "M", "name": "process_name", "args": 3},
    begin(1, pid=10**4300 - 1), begin(1, pid=-2**63), begin(1, tid=10**4300 - 1),
    {"ph": "i", "cat": "fork", "pid": 7, "tid": 7, "ts": 1, "args": {"parent": []}},
    begin(1, name="\x1b[31m\ud800", args={"once": "<&\x07\ufffe", "site": "\ud800"}),
], ids=short)
def test_an_event_that_makes_no_sense_spoils_nothing(tmp_path, event):
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps([event, begin(5, tid=8), end(6, tid=8)]))
    said = python(*TOOL, trace, "-o", tmp_path / "trace.svg", "--merge", tmp_path / "merged.json",
                  env=environment(PYTHONIOENCODING="ascii"))
    assert "success" in said and "\x1b" not in said
    assert picture(tmp_path / "trace.svg") and events_of(tmp_path / "merged.json")


def test_what_cannot_be_read_or_written_is_told_in_one_line(tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps([begin(1), end(2)]))
    for arguments, text in [
        ([tmp_path / "nowhere"], "No such file"), ([tmp_path], "Is a directory"), ([trace, trace], "given twice"),
        ([trace, "-o", "a.png"], "SVG"), ([trace, "--merge", trace], "one of the traces"),
        ([trace, "-o", tmp_path / "a.svg", "--merge", tmp_path / "a.svg"], "both the picture and the merged trace"),
    ]:
        assert text in refused(*arguments)
    for arguments, text in [
        ([trace, "-o", tmp_path / "nowhere" / "a.svg"], "No such file"), ([trace, "--merge", tmp_path], "Is a directory"),
    ]:
        assert text in refused(*arguments, told=True)
    assert json.loads(trace.read_text())


@pytest.mark.parametrize("how, code", [(">/dev/full", 2), (">&-", 0)])
def test_a_table_that_nobody_can_be_shown_costs_no_file(tmp_path, how, code):
    trace, drawn, merged = (tmp_path / name for name in ("trace.json", "trace.svg", "merged.json"))
    trace.write_text(json.dumps([begin(1), end(2)]))
    command = '"$0" "$@" ' + how
    done = subprocess.run(["sh", "-c", command, sys.executable, *TOOL, trace, "-o", drawn, "--merge", merged], env=environment(),
                          stderr=subprocess.PIPE, timeout=LIMIT)
    assert done.returncode == code and done.stderr.count(b"\n") == (code != 0) and b"Traceback" not in done.stderr
    assert picture(drawn) and events_of(merged)


def test_a_reader_that_has_seen_enough(tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps([each for at in range(5000) for each in (begin(2 * at), end(2 * at + 1))]))
    tool = subprocess.Popen([sys.executable, *TOOL, str(trace), "-o", str(tmp_path / "trace.svg")], env=environment(),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tool.stdout.read(10)
    tool.stdout.close()
    assert tool.stderr.read() == b"" and tool.wait(timeout=LIMIT) == 0
    assert bars(tmp_path / "trace.svg", "request")


def test_a_number_that_json_has_not_is_null_in_the_merged_trace(tmp_path):
    trace = tmp_path / "trace.json"
    trace.write_text("[" + ",\n".join([json.dumps(begin(1)), json.dumps(end(2)),
                                       '{"ph":"C","name":"a","ts":NaN,"args":{"b":[Infinity,{"c":-1e999}],"d":"NaN"}}']) + "]")
    python(*TOOL, trace, "--merge", tmp_path / "merged.json", "--align", "start")

    def refuse(word):
        raise AssertionError(word)

    events = json.loads((tmp_path / "merged.json").read_text(), parse_constant=refuse)["traceEvents"]
    counter, = [each for each in events if each["ph"] == "C"]
    assert (counter["ts"], counter["args"]) == (None, {"b": [None, {"c": None}], "d": "NaN"})


def test_what_is_aligned_to_the_start_claims_no_clock(tmp_path):
    trace, aligned, twice = (tmp_path / name for name in ("trace.json", "aligned.json", "twice.json"))
    trace.write_text(json.dumps([begin(5e6, "attempt"), end(6e6, "attempt")]))
    assert "at 5.000000 s of the machine's clock" in python(*TOOL, trace)
    for arguments in [(trace, "--merge", aligned, "--align", "start"), (aligned, "--merge", twice), (twice,)]:
        said = python(*TOOL, *arguments)
        assert "aligned by --align start" in said and "machine's clock" not in said
    other = tmp_path / "other.json"
    other.write_text(json.dumps([begin(5e6, pid=8), end(6e6, pid=8)]))
    said = python(*TOOL, other, twice)
    assert "aligned by --align start, and to no clock that the others have: %s\n" % twice in said and "machine's clock" not in said


def fork(at, pid, parent, thread=None):
    return {"ph": "i", "pid": pid, "tid": pid, "ts": at, "cat": "fork", "name": "fork", "s": "p",
            "args": {"parent": parent, "thread": thread}}


def test_in_what_a_thread_has_forked_is_told(tmp_path):
    trace, own = tmp_path / "trace.json", tmp_path / "own.json"
    events = [begin(1, "attempt", name="outer"), begin(2, name="early"), end(3), begin(4, "factory", name="inner"),
              begin(4, "wait", tid=8, name="waits"), begin(5, "prepare", tid=9, name="asks"), fork(6, 10, 7, 7), fork(3, 11, 7, 7),
              fork(6, 15, 7, 9), fork(6, 16, 7, 8), fork(6, 17, 7, []), end(7, "factory"), end(8, "attempt"), fork(9, 12, 7, 7),
              fork(9, 13, 5, 7)]
    trace.write_text(json.dumps(events))
    own.write_text(json.dumps([fork(6, 14, 7, 7)]))
    merged = tmp_path / "merged.json"
    for files in ([trace, own], [trace, own, "--align", "start", "--merge", merged], [merged]):
        said = python(*TOOL, *files)
        inside = {each["process"]: each.get("in the middle of", "").partition(",")[0] for each in section(said, "forks")}
        assert inside == {"10": "inner", "11": "early", "12": "", "13": "", "14": "inner", "15": "asks", "16": "", "17": ""}
