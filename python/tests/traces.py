"""Traces of real processes and made ones, and what is read back of them."""
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

from alone import LIMIT, environment

TOOL = ("-m", "lazyonce", "trace")
SVG = "{http://www.w3.org/2000/svg}"


def line(source, mark):
    return 1 + next(index for index, text in enumerate(source.splitlines()) if text.endswith("# line " + mark))


def traced(folder, source, name="trace.json", ends_by=0):
    """Runs it as prog.py with a trace, and gives that; or, if the name has %p in it, all of them."""
    program = folder / "prog.py"
    program.write_text(source)
    done = subprocess.run([sys.executable, str(program)], env=environment(LAZYONCE_TRACE=str(folder / name)), timeout=LIMIT)
    assert done.returncode == -ends_by
    return folder / name if "%p" not in name else sorted(folder.glob(name.replace("%p", "*")))


def section(output, title):
    """The cells of a table below its head, cut at two blanks."""
    lines = output.splitlines()
    begin = next(index for index, each in enumerate(lines) if each.startswith(title))
    rows = []
    for each in lines[begin + 1:]:
        if not each.strip():
            break
        rows.append(re.split(r"  +", each.strip()))
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def picture(path):
    """The bars of a timeline: the classes of each, with its tooltip."""
    root = xml.parse(path).getroot()
    assert root.tag == SVG + "svg"
    found = []
    for group in root.iter(SVG + "g"):
        for box in group.iter(SVG + "rect"):
            found.append((box.get("class"), group.find(SVG + "title").text))
            left, width, edge = float(box.get("x")), float(box.get("width")), float(root.get("viewBox").split()[2])
            assert 0 <= left and 0 < width and left + width <= edge
    return found


def bars(path, style):
    return [tip for each, tip in picture(path) if each == style]


def events_of(path):
    events = json.loads(Path(path).read_text())["traceEvents"]
    check_nesting(events)
    return events


def check_nesting(events):
    """On each thread an end belongs to the latest open beginning, and time never runs backwards."""
    stacks, latest = {}, {}
    for each in events:
        if each["ph"] not in "BE":
            continue
        thread = each["pid"], each["tid"]
        assert each["ts"] >= latest.get(thread, 0)
        latest[thread] = each["ts"]
        if each["ph"] == "B":
            stacks.setdefault(thread, []).append(each["cat"])
        else:
            assert stacks[thread].pop() == each["cat"]
    return stacks


def begin(at, kind="request", **more):
    return dict({"ph": "B", "pid": 7, "tid": 7, "ts": at, "cat": kind, "name": "callback from a.c:1 (a)",
                 "args": {"once": "gpu", "site": "a.c:1 (a)", "number": 1, "phase": 2}}, **more)


def end(at, kind="request", **more):
    return dict({"ph": "E", "pid": 7, "tid": 7, "ts": at, "cat": kind, "args": {"status": 0, "outcome": "success"}}, **more)
