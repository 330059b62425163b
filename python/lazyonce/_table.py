"""The table of `python -m lazyonce trace`."""
import re
from typing import Callable, Dict, List, Sequence, Tuple

from ._events import Process, Span, Trace, parent

Row = Sequence[str]
DEEPEST = 20  # indents: a trace that was never written by us can have any number


def aim(span: Span) -> str:
    """What it is about: of a slot one index. A wait can be for that, too."""
    word = {"wait": " for ", "host_wait": " for ", "factory": " of "}.get(span.kind)
    named = span.name.partition(word)[2] if word else ""
    return named or ('once "%s"' % span.once if span.once else "an unnamed once")


def subject(span: Span) -> str:
    """The same with all indices."""
    return re.sub(r", index \d+$", "", aim(span))


def seconds(ns: int) -> str:
    """A duration with a unit that suits it."""
    unit, size = next((each for each in (("s", 10**9), ("ms", 10**6)) if ns >= each[1]), ("us", 10**3))
    return ("%.0f %s" if ns >= 100 * size else "%.3g %s") % (ns / size, unit)


def milliseconds(ns: int, is_open: bool = False) -> str:
    """At least so many, if it had not ended."""
    return ("> " if is_open else "") + "%.3f" % (ns / 10**6)


def is_open(spans: Sequence[Span]) -> bool:
    return any(span.end is None for span in spans)


def counted(number: int, what: str) -> str:
    plural = what if number == 1 else what + ("es" if what.endswith("s") else "s")
    return "%d %s" % (number, plural)


def last(span: Span) -> int:
    """Its end, or how far the trace goes."""
    return max(span.start, span.process.trace.last) if span.end is None else span.end


def spans_of(traces: Sequence[Trace]) -> List[Span]:
    found = [span for trace in traces for process in trace.processes.values() for span in process.spans]
    return sorted(found, key=lambda span: span.start)


def processes_of(traces: Sequence[Trace]) -> List[Process]:
    """Those that did something, in the order in which they began."""
    found = []
    for trace in traces:
        for process in trace.processes.values():
            begun = [span.start for span in process.spans[:1]] + ([] if process.forked is None else [process.forked])
            if begun:
                found.append((min(begun), process.number, process))
    return [process for _, _, process in sorted(found, key=lambda each: each[:2])]


def called(process: Process, traces: Sequence[Trace]) -> str:
    """Its pid, and its trace where another process has the same."""
    same = sum(process.pid in trace.processes for trace in traces)
    return "%s of %s" % (process.pid, process.trace.path) if same > 1 else str(process.pid)


def forker(child: Process, traces: Sequence[Trace]) -> str:
    found = parent(child, traces)
    return str(child.parent or "?") if found is None else called(found, traces)


def begin_of(traces: Sequence[Trace]) -> int:
    forks = [process.forked for process in processes_of(traces) if process.forked is not None]
    return min([span.start for span in spans_of(traces)] + forks, default=0)


class Tables:
    """Everything for one table: times count from its first event."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        self.traces, self.spans = traces, spans_of(traces)
        self.begin = begin_of(traces)
        self.end = max([trace.last for trace in traces] + [self.begin])
        self.lines: List[str] = []

    def at(self, ns: int) -> str:
        return milliseconds(ns - self.begin)

    def took(self, span: Span) -> str:
        return milliseconds(last(span) - span.start, span.end is None)

    def where(self, span: Span) -> Tuple[str, str]:
        return called(span.process, self.traces), str(span.thread)

    def show(self, title: str, head: Row, rows: Sequence[Row]) -> None:
        """Numbers to the right, texts to the left, and no column of which nothing is known."""
        if not rows:
            return
        columns = [column for column in range(len(head)) if any(row[column] for row in rows)]
        head, rows = [head[column] for column in columns], [[row[column] for column in columns] for row in rows]
        widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
        is_number = [all((cell.lstrip("> ").replace(".", "") or "0").isdigit() for cell in column) for column in zip(*rows)]
        self.lines.append("\n%s" % title)
        for row in [head, *rows]:
            cells = [cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(row, widths, is_number)]
            self.lines.append("  " + "  ".join(cells).rstrip())

    def each(self, title: str, head: Row, kind: str, more: Callable[[Span], Row], least: int = 0) -> None:
        """Those that took at least so long, or did not end."""
        spans = [span for span in self.spans if span.kind == kind and (span.end is None or span.end - span.start >= least)]
        if kind == "wait":
            spans.sort(key=lambda span: (span.process.number, span.thread))
        rows = [(self.at(span.start), self.took(span), *self.where(span), *more(span)) for span in spans]
        self.show(title, ("start", "took", "process", "thread", *head), rows)


def table(traces: Sequence[Trace]) -> str:
    """What happened, for people."""
    tables = Tables(traces)
    _head(tables)
    open_spans = [span for span in tables.spans if span.end is None]
    tables.show("not ended when the trace ends: what a hung or dead process was doing", ("process", "thread", "since", "what"),
                [(*tables.where(span), tables.at(span.start), "  " * min(span.depth, DEEPEST) + _what(span))
                 for span in open_spans])
    tables.each("attempts", ("of", "attempt", "outcome", "started at"), "attempt",
                lambda span: (subject(span), str(span.number), span.outcome, span.site))
    tables.each("callbacks", ("of", "outcome", "handed in at"), "request",
                lambda span: (subject(span), span.outcome, span.site))
    tables.each("waits", ("for", "of thread", "outcome", "called at", "for what was started or handed in at"), "wait",
                lambda span: (aim(span), str(span.awaited.thread) if span.awaited else "", span.outcome, span.caller, span.site))
    tables.each("waits for a host's lock, of 1 ms or more", ("on the way to", "outcome", "called at"), "host_wait",
                lambda span: (subject(span), span.outcome, span.caller), 10**6)
    tables.each("factories", ("of", "index", "outcome", "called at"), "factory",
                lambda span: (subject(span), str(span.number), span.outcome, span.site))
    tables.each("before an attempt: prepare and can_init", ("for", "outcome", "called at"), "prepare",
                lambda span: (subject(span), span.outcome, span.site))
    _forks(tables)
    _threads(tables)
    _onces(tables)
    return "\n".join(tables.lines)


def _what(span: Span) -> str:
    """It, as its bar is called in the timeline, with the place that the name lacks."""
    what = span.name
    if span.awaited:
        what += ", of thread %d" % span.awaited.thread
    elif span.kind == "wait" and span.site:
        what += ", for what was started at %s" % span.site
    elif span.kind != "request" and span.site and not span.caller:
        what += ", %s at %s" % ("started" if span.kind == "attempt" else "called", span.site)
    return what + (", called at %s" % span.caller if span.caller else "")


def _head(tables: Tables) -> None:
    processes = processes_of(tables.traces)
    threads = sum(len(process.threads()) for process in processes)
    tables.lines.append("%s, %s, %s, %s" % (counted(len(tables.traces), "trace"), counted(len(processes), "process"),
                                           counted(threads, "thread"), seconds(tables.end - tables.begin)))
    tables.lines.append("times in ms, from %s" % _zero(tables, processes))
    if is_open(tables.spans):
        tables.lines.append(">: the trace ends at its last event; how long it hung after that is not known")
    for trace in tables.traces:
        if not any(process.spans or process.forked is not None for process in trace.processes.values()):
            others = ", %d of others" % trace.foreign if trace.foreign else ""
            tables.lines.append("%s: no event of lazyonce%s" % (trace.path, others))
        if trace.damaged:
            tables.lines.append("%s: %s could not be read" % (trace.path, counted(trace.damaged, "piece")))


def _zero(tables: Tables, processes: Sequence[Process]) -> str:
    aligned = [trace.path for trace in tables.traces if trace.is_aligned]
    if len(aligned) == len(tables.traces):
        return "the first event of each trace: they are aligned by --align start, and to no clock"
    if aligned:
        return "the first event; aligned by --align start, and to no clock that the others have: %s" % ", ".join(aligned)
    if not processes:
        return "the first event"
    shared = ", which the traces are taken to share: if not, --align start" if len(tables.traces) > 1 else ""
    return "the first event, at %.6f s of the machine's clock (CLOCK_MONOTONIC)%s" % (tables.begin / 10**9, shared)


def inside(child: Process) -> str:
    """In the middle of what it was forked."""
    if child.told_inside is not None:
        return child.told_inside
    return _what(child.inside) if child.inside else ""


def _forks(tables: Tables) -> None:
    rows = []
    for process in processes_of(tables.traces):
        if process.forked is not None:
            rows.append((tables.at(process.forked), called(process, tables.traces), forker(process, tables.traces), inside(process)))
    tables.show("forks", ("at", "process", "of", "in the middle of"), rows)


def _total(spans: Sequence[Span], kind: str) -> Tuple[str, str]:
    """How many, and how long: what is nested in the same counts once."""
    found, end, total = [span for span in spans if span.kind == kind], -1, 0
    for span in found:
        total += max(0, last(span) - max(span.start, end))
        end = max(end, last(span))
    return str(len(found)), milliseconds(total, is_open(found))


def _threads(tables: Tables) -> None:
    rows: List[Row] = []
    for process in processes_of(tables.traces):
        for thread, spans in process.threads().items():
            row = [called(process, tables.traces), str(thread)]
            for kind in ("attempt", "request", "factory", "wait", "host_wait"):
                row += _total(spans, kind)
            rows.append(row)
    head = ("process", "thread", "attempts", "ms", "callbacks", "ms", "factories", "ms", "waits", "ms", "for the host's lock", "ms")
    tables.show("threads", head, rows)


def _onces(tables: Tables) -> None:
    found: Dict[str, List[Span]] = {}
    for span in tables.spans:
        found.setdefault(subject(span), []).append(span)
    if not found:
        return
    rows = [(name, *_sums(spans)) for name, spans in [*found.items(), ("all", tables.spans)]]
    tables.show("totals", ("of", "attempts", "factories", "failed", "ms", "callbacks", "waits", "ms", "longest"), rows)


def _sums(spans: Sequence[Span]) -> Row:
    """What is nested counts by itself. The longest wait may be one that had not ended."""
    attempts, factories, callbacks, waits = ([span for span in spans if span.kind == kind]
                                             for kind in ("attempt", "factory", "request", "wait"))
    making = attempts + factories
    busy, waiting = ([last(span) - span.start for span in each] for each in (making, waits))
    failed = sum(span.status < 0 for span in making)
    return (str(len(attempts)), str(len(factories)), str(failed), milliseconds(sum(busy), is_open(making)), str(len(callbacks)),
            str(len(waits)), milliseconds(sum(waiting), is_open(waits)), milliseconds(max(waiting, default=0), is_open(waits)))
