"""`python -m lazyonce trace`: what LAZYONCE_TRACE wrote, as a table (`_table`), a picture (`_timeline`), one trace for Perfetto.

It needs nothing but the standard library, not even the C library: a trace is often read on another machine.
"""
import argparse
import io
import json
import os
import sys
from pathlib import Path
from typing import Callable, Iterator, List, Sequence

from . import _table, _timeline
from ._events import ALIGN, Event, Trace, Unreadable, find_inside, is_number, number, parent, plain, read


def align(traces: Sequence[Trace]) -> None:
    """Lets every trace begin at the same time."""
    for trace in traces:
        trace.is_aligned = True
        spans = [span for process in trace.processes.values() for span in process.spans]
        forks = [process.forked for process in trace.processes.values() if process.forked is not None]
        first = min([span.start for span in spans] + forks, default=0)
        for span in spans:
            span.start -= first
            span.end = None if span.end is None else span.end - first
        for process in trace.processes.values():
            process.forked = None if process.forked is None else process.forked - first
        trace.last -= first
        trace.events = [{**event, "ts": round(event["ts"] - first / 1000, 3)} if is_number(event.get("ts")) else event
                        for event in trace.events]


def merged(traces: Sequence[Trace]) -> Iterator[Event]:
    """The events of all, each process with a number and a name."""
    for trace in traces:
        for process in trace.processes.values():
            if not process.name:
                name = "%s (%s)" % (process.pid, os.path.basename(trace.path))
                yield {"ph": "M", "pid": process.number, "name": "process_name", "args": {"name": name}}
        for event in trace.events:
            process = trace.process(event.get("pid", 0))
            event = {**event, "pid": process.number}
            if event.get("cat") == "fork" and isinstance(event.get("args"), dict):
                forker = parent(process, traces)
                event["args"] = {**event["args"], "parent": process.parent if forker is None else forker.number,
                                 "inside": _table.inside(process)}
            yield event


def as_trace(traces: Sequence[Trace]) -> str:
    """One of all, in which stands whether a clock is behind its times."""
    aligned = '"otherData":{"%s":"start"},' % ALIGN if any(trace.is_aligned for trace in traces) else ""
    return '{%s"traceEvents":[\n%s\n]}\n' % (aligned, ",\n".join(map(as_json, merged(traces))))


def as_json(event: Event) -> str:
    """Numbers without end are null: JSON has none, though Python reads and writes them."""
    try:
        return json.dumps(event, allow_nan=False)
    except ValueError:
        return json.dumps(json.loads(json.dumps(event), parse_constant=lambda _: None), allow_nan=False)


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as failure:
        raise Unreadable("%s: %s" % (path, failure.strerror or failure)) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lazyonce trace",
        description="Shows what LAZYONCE_TRACE wrote: a table, a picture, one trace for Perfetto.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a trace; several of processes that belong together")
    parser.add_argument("-o", metavar="OUT.svg", dest="picture", help="write a timeline")
    parser.add_argument("--merge", metavar="OUT.json", help="write one trace of all, for ui.perfetto.dev")
    parser.add_argument("--align", choices=["clock", "start"], default="clock",
                        help="clock (default): all traces are of one machine, and share its clock; start: each begins at 0")
    return parser


def _run(arguments: argparse.Namespace) -> None:
    if arguments.picture and not arguments.picture.endswith(".svg"):
        raise Unreadable("%s: the timeline is a picture in SVG; let its name end with .svg" % arguments.picture)
    paths = [os.path.realpath(path) for path in arguments.files]
    for index, path in enumerate(paths):
        if path in paths[:index]:
            raise Unreadable("%s: it is given twice" % arguments.files[index])
    for path in filter(None, (arguments.merge, arguments.picture)):
        if os.path.exists(path) and any(os.path.exists(each) and os.path.samefile(path, each) for each in paths):
            raise Unreadable("%s: it would be written over, and it is one of the traces" % path)
    if arguments.merge and arguments.picture and os.path.realpath(arguments.merge) == os.path.realpath(arguments.picture):
        raise Unreadable("%s: it is given for both the picture and the merged trace" % arguments.merge)
    traces = [read(path) for path in arguments.files]
    number(traces)
    find_inside(traces)
    if arguments.align == "start":
        align(traces)
    # Whatever becomes of one of them, the others are there.
    writers: List[Callable[[], None]] = [lambda: _print(_table.table(traces))]
    if arguments.merge:
        writers.append(lambda: _write(arguments.merge, as_trace(traces)))
    if arguments.picture:
        writers.append(lambda: _write(arguments.picture, _timeline.picture(traces)))
    left: List[str] = []
    for write in writers:
        try:
            write()
        except Unreadable as failure:
            left.append(str(failure))
    if left:
        raise Unreadable("; ".join(left))


def _print(text: str) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stdout is None:  # it was closed
        return
    try:
        print(text)
        sys.stdout.flush()
    except OSError as failure:
        # The interpreter must not say so once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(failure, BrokenPipeError):  # there whoever reads it has seen enough
            raise Unreadable("the table cannot be printed: %s" % (failure.strerror or failure)) from None


def main(arguments: Sequence[str]) -> int:
    try:
        _run(_parser().parse_args(arguments))
    except Unreadable as failure:
        print("lazyonce: %s" % plain(failure), file=sys.stderr)
        return 2
    return 0
