"""Reads what LAZYONCE_TRACE wrote: Chrome trace events, a line each, perhaps of a process that died while it wrote one."""
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

KINDS = ("attempt", "request", "wait", "host_wait", "factory", "prepare")
INSIDE = ("attempt", "request", "factory", "prepare")  # in what of these a process can have been forked
UNKNOWN = "an unknown place"  # what the library writes for a site that it does not know
ALIGN = "lazyonce --align"  # in a merged trace: how it was made
E_CALLBACK = -5
FACTORY_FAILED = "the factory failed"  # which the library has no status of its own for
Event = Dict[str, Any]
BEGUN, ASKED, ENDED = range(3)
Place = Tuple[str, str, str, int]


class Unreadable(Exception):
    """What the person who asked has to know, in one line."""


@dataclass
class Span:
    """Something that began, and perhaps ended, on one thread."""

    kind: str
    name: str
    once: str
    site: str
    number: int
    caller: str  # of a wait: where the call is that waits
    process: "Process"
    thread: int
    depth: int
    start: int  # nanoseconds, as all times
    end: Optional[int] = None
    status: int = 0
    outcome: str = "not ended"
    # What a wait is for: the attempt, the request or the factory of another thread, that came from the place that the wait names.
    awaited: Optional["Span"] = None


@dataclass
class Stack:
    """What is open on a thread, and how many of each kind: an end that fits to none must not look at each."""

    spans: List[Span] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def push(self, span: Span) -> None:
        self.spans.append(span)
        self.kinds[span.kind] += 1

    def pop(self) -> Span:
        span = self.spans.pop()
        self.kinds[span.kind] -= 1
        return span


@dataclass
class Process:
    """A process of one trace. Several traces may have the same pid, in containers or on several machines: `number` is distinct."""

    pid: Any
    trace: "Trace"
    number: int = 0
    name: str = ""
    parent: Optional[int] = None
    forked: Optional[int] = None
    forker: Optional[int] = None
    """The thread that has forked it, and the innermost of what that was doing; or what a merged trace says of that."""
    inside: Optional[Span] = None
    told_inside: Optional[str] = None
    spans: List[Span] = field(default_factory=list)

    def threads(self) -> Dict[int, List[Span]]:
        found: Dict[int, List[Span]] = {}
        for span in self.spans:
            found.setdefault(span.thread, []).append(span)
        return found


@dataclass
class Trace:
    """One file."""

    path: str
    processes: Dict[Any, Process] = field(default_factory=dict)
    events: List[Event] = field(default_factory=list)
    last: int = 0
    foreign: int = 0
    damaged: int = 0
    is_aligned: bool = False  # its times count from the start of something, and are no clock's

    def process(self, pid: Any) -> Process:
        return self.processes.setdefault(pid, Process(pid, self))


def plain(text: object) -> str:
    """What a terminal and XML can hold: names are whatever a program chose."""
    text = str(text)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _objects(text: str, trace: Trace) -> Iterator[Any]:
    """The events of an array that perhaps was never closed, or ends in the middle of one."""
    decoder, at = json.JSONDecoder(), 1
    while True:
        while at < len(text) and text[at] in ", \t\r\n":
            at += 1
        if at >= len(text) or text[at] == "]":
            return
        try:
            event, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            trace.damaged += 1
            at = text.find("\n", at)
            if at < 0:
                return
            continue
        yield event


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**63


def is_whole(value: Any) -> bool:
    """What a process or a thread can have as its number."""
    return isinstance(value, int) and is_number(value)


def _parse(text: str, trace: Trace) -> Iterator[Event]:
    if text[:1] == "{":
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            raise Unreadable("%s: it is cut, or no trace in JSON" % trace.path) from None
        found, more = whole.get("traceEvents"), whole.get("otherData")
        trace.is_aligned = isinstance(more, dict) and more.get(ALIGN) == "start"
        if not isinstance(found, list):
            raise Unreadable("%s: JSON, but no Chrome trace: it has no list \"traceEvents\"" % trace.path)
    elif text[:1] == "[" or not text:
        found = list(_objects(text, trace))
    else:
        raise Unreadable("%s: no Chrome trace: it does not begin with [ or {" % trace.path)
    events = [each for each in found if isinstance(each, dict) and isinstance(each.get("ph"), str)
              and (isinstance(each.get("pid", 0), str) or is_whole(each.get("pid", 0)))]
    if not events and (found or trace.damaged):
        raise Unreadable("%s: no Chrome trace: there is no event in it" % trace.path)
    trace.damaged += len(found) - len(events)
    yield from events


def read(path: str) -> Trace:
    """A trace, also of a process that died, or of none at all."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig", "replace").strip()
    except OSError as failure:
        raise Unreadable("%s: %s" % (path, failure.strerror or failure)) from None
    trace = Trace(path)
    stacks: Dict[Tuple[Any, Any], Stack] = {}
    for event in _parse(text, trace):
        _enter(event, trace, stacks)
    for process in trace.processes.values():
        _find_awaited(process.spans)
    return trace


def _moments(spans: Iterable[Span], asked: Iterable[Tuple[int, Any]]) -> Iterator[Tuple[int, Any]]:
    """By time, since threads do not write in its order: what begins and ends, and the moments at which somebody asks what is open.
    What begins or ends at such a moment is open then."""
    found: List[Tuple[int, int, Any]] = [(at, ASKED, whose) for at, whose in asked]
    for span in spans:
        found.append((span.start, BEGUN, span))
        if span.end is not None:
            found.append((span.end, ENDED, span))
    return ((rank, whose) for _, rank, whose in sorted(found, key=lambda each: each[:2]))


def _keep_open(rank: int, span: Span, threads: Dict[int, Dict[int, Span]]) -> None:
    """By thread: what has begun, and not ended."""
    if rank == BEGUN:
        threads.setdefault(span.thread, {})[id(span)] = span
    else:
        del threads[span.thread][id(span)]
        if not threads[span.thread]:
            del threads[span.thread]


def _find_awaited(spans: Sequence[Span]) -> None:
    waits = [(span.start, span) for span in spans if span.kind == "wait" and span.site]
    moments = _moments((span for span in spans if span.site and span.kind in ("attempt", "request", "factory")), waits)
    # By place, then by thread: a wait must not look at each of many that never ended.
    places: Dict[Place, Dict[int, Dict[int, Span]]] = {}
    for rank, span in moments:
        if rank == ASKED:
            span.awaited = _whom(span, places)
            continue
        threads = places.setdefault(_key(span, span.kind), {})
        _keep_open(rank, span, threads)


def _key(span: Span, kind: str) -> Place:
    """By what something is found; a wait finds one of that kind. Factories of one place make values at many indices."""
    return kind, span.once, span.site, span.number if kind == "factory" else 0


def _whom(wait: Span, places: Mapping[Place, Dict[int, Dict[int, Span]]]) -> Optional[Span]:
    for kind in ("attempt", "request", "factory"):
        threads = places.get(_key(wait, kind), {})
        others = len(threads) - (wait.thread in threads)
        if others == 1:
            spans, = (threads[thread] for thread in threads if thread != wait.thread)
            return next(iter(spans.values())) if len(spans) == 1 else None
        if others:
            return None
    return None


def _place(arguments: Event, name: str) -> str:
    place = plain(arguments.get(name, ""))
    return "" if place == UNKNOWN else place


def _enter(event: Event, trace: Trace, stacks: Dict[Tuple[Any, Any], Stack]) -> None:
    letter, kind, pid, thread = event["ph"], str(event.get("cat")), event.get("pid", 0), event.get("tid", 0)
    arguments = event.get("args") if isinstance(event.get("args"), dict) else {}
    assert isinstance(arguments, dict)
    process = trace.process(pid)
    if letter == "M" and event.get("name") == "process_name":
        process.name = plain(arguments.get("name", ""))
    is_ours = kind in KINDS and letter in "BE" or kind == "fork" and letter == "i"
    if not is_ours:
        trace.foreign += letter != "M"
        trace.events.append(event)
        return
    if not (is_number(event.get("ts")) and is_whole(thread)):
        trace.damaged += 1
        return
    at, stack = round(event["ts"] * 1000), stacks.setdefault((pid, thread), Stack())
    trace.last = max(trace.last, at)
    if letter == "i":
        found = (arguments.get(name) for name in ("parent", "thread"))
        process.told_inside = plain(arguments["inside"]) if "inside" in arguments else None
        process.forked, (process.parent, process.forker) = at, (each if isinstance(each, int) else None for each in found)
    elif letter == "B":
        number = arguments.get("number")
        site, caller = (_place(arguments, name) for name in ("site", "caller"))
        span = Span(kind, plain(event.get("name", "")), plain(arguments.get("once", "")), site,
                    number if isinstance(number, int) else 0, site if kind == "host_wait" else caller, process, thread,
                    len(stack.spans), at)
        stack.push(span)
        process.spans.append(span)
    else:
        if not stack.kinds[kind]:
            trace.damaged += 1
            return
        while True:  # what is above it was left by longjmp, and has no end of its own
            span = stack.pop()
            span.end = max(at, span.start)
            if span.kind == kind:
                break
            span.status, span.outcome = -1, "left without an end"
            trace.events.append({**event, "cat": span.kind, "args": {"outcome": span.outcome}})
        status = arguments.get("status")
        span.status, span.outcome = status if isinstance(status, int) else 0, plain(arguments.get("outcome", ""))
        if (kind, span.status) == ("factory", E_CALLBACK):
            span.outcome = FACTORY_FAILED
    trace.events.append(event)


def number(traces: Sequence[Trace]) -> None:
    """Gives each process a number of its own: its pid where no trace before has that."""
    taken: Set[int] = {pid for trace in traces for pid in trace.processes if isinstance(pid, int)}
    seen: Set[Any] = set()
    free = max(taken, default=0) + 1
    for trace in traces:
        for process in trace.processes.values():
            if isinstance(process.pid, int) and process.pid not in seen:
                process.number = process.pid
                seen.add(process.pid)
            else:
                process.number, free = free, free + 1


def parent(child: Process, traces: Sequence[Trace]) -> Optional[Process]:
    """The process that forked it; None if that is in no trace, or in several."""
    among = [child.trace] if child.parent in child.trace.processes else traces
    found = [trace.processes[child.parent] for trace in among if child.parent in trace.processes]
    return found[0] if len(found) == 1 else None


def find_inside(traces: Sequence[Trace]) -> None:
    """In what each process was forked, while all times are as they were written."""
    children: Dict[int, List[Tuple[int, Process]]] = {}
    by_number = {process.number: process for trace in traces for process in trace.processes.values()}
    for process in by_number.values():
        forker = parent(process, traces)
        if forker is not None and process.forked is not None:
            children.setdefault(forker.number, []).append((process.forked, process))
    for number, forked in children.items():
        threads: Dict[int, Dict[int, Span]] = {}
        for rank, whose in _moments((span for span in by_number[number].spans if span.kind in INSIDE), forked):
            if rank == ASKED:
                whose.inside = next(reversed(list(threads.get(whose.forker, {}).values())), None)
            else:
                _keep_open(rank, whose, threads)
