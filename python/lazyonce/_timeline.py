"""The picture of `python -m lazyonce trace`: a lane for each thread, in it a row for each level of nesting."""
import os
from dataclasses import dataclass
from html import escape
from typing import Dict, List, Sequence, Tuple

from ._axis import CUT, Axis
from ._events import Process, Span, Trace
from ._table import aim, called, counted, forker, last, processes_of, seconds, subject

LEFT, WIDTH, RIGHT, TOP = 170, 1010, 20, 78
ROW, BAR = 20, 16
LETTER = 6.7  # pixels, with some to spare: which font there is, only the reader's machine knows
STYLE = """
svg { background: #fff; font: 12px "DejaVu Sans", Verdana, sans-serif }
.back { fill: #fff } .band { fill: #f1f4f8 } .grid { stroke: #d5dae1 } .cut { fill: #e3e7ec }
text { fill: #1b1f24 } .small { font-size: 11px; fill: #59636e }
.head { font-weight: bold } .title { font-size: 15px; font-weight: bold }
.attempt { fill: #1769aa } .request { fill: #12805c } .wait { fill: #f0b429 }
.host_wait { fill: #d8a0d8 } .factory { fill: #7a4fb5 } .prepare { fill: #5b7083 } .several { fill: #8a929c }
.attempt + text, .request + text, .factory + text, .prepare + text, .several + text { fill: #fff } .wait + text, .host_wait + text { fill: #1b1f24 }
.failed { stroke: #d1242f; stroke-width: 2.5 } .open { stroke: #1b1f24; stroke-width: 2; stroke-dasharray: 5 3 }
text.beside { fill: #1b1f24 } text.bad { fill: #d1242f; font-weight: bold } text.still { font-weight: bold }
.fork { stroke: #1b1f24; stroke-dasharray: 2 3 } .mark { fill: #1b1f24 }
@media (prefers-color-scheme: dark) {
svg { background: #15181d } .back { fill: #15181d } .band { fill: #1f242c } .grid { stroke: #38404b } .cut { fill: #2b313a }
text, text.beside { fill: #e8ebef } .small { fill: #a3adb9 } .open, .fork { stroke: #e8ebef } .mark { fill: #e8ebef }
.failed { stroke: #ff6b6b } text.bad { fill: #ff8080 } .attempt { fill: #2f81c7 } .request { fill: #1b9069 }
}
"""
LEGEND = (
    ("attempt", "attempt to initialize"), ("request", "callback"), ("wait", "wait"), ("host_wait", "wait for the host's lock"),
    ("factory", "factory of a slot"), ("prepare", "prepare or can_init"),
    ("attempt failed", "failed"), ("attempt open", "not ended"),
)
MANY = {
    "attempt": "attempts", "request": "callbacks", "wait": "waits", "host_wait": "waits for the host's lock",
    "factory": "factories", "prepare": "prepares", "several": "short ones",
}


def _box(style: str, x: float, y: float, width: float, height: float) -> str:
    return '<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2"/>' % (style, x, y, width, height)


def _text(style: str, x: float, y: float, text: str, anchor: str = "start") -> str:
    return '<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>' % (style, x, y, anchor, escape(text))


def _line(style: str, x: float, top: float, bottom: float) -> str:
    return '<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>' % (style, x, top, x, bottom)


def _mark(x: float, y: float) -> str:
    return '<path class="mark" d="M%.1f %.1fl5 -9h-10z"/>' % (x, y)


def _tip(tip: str, *parts: str) -> str:
    """What is shown where it is pointed at."""
    return "<g><title>%s</title>%s</g>" % (escape(tip), "".join(parts))


def _fit(text: str, width: float) -> str:
    room = int(width / LETTER)
    return text if len(text) <= room else text[:max(0, room - 1)] + "\u2026"


@dataclass
class Bar:
    """A span, or several that are too short to be seen each by itself."""

    left: float
    right: float
    style: str
    label: str
    tip: str
    spans: int = 1

    def is_short(self) -> bool:
        return self.spans > 1 or self.right - self.left < 3.5

    def draw(self, y: float, preceding: float, following: float) -> str:
        """With its label in it or, if that has no room, behind or before it, up to the next bar."""
        inside, behind, before = self.right - self.left - 8, following - self.right - 8, self.left - preceding - 8
        length, box = len(self.label) * LETTER, _box(self.style, self.left, y, self.right - self.left, BAR)
        style = "beside" + (" bad" if "failed" in self.style else " still" if "open" in self.style else "")
        if length <= inside or inside > 40 and inside >= behind:
            return _tip(self.tip, box, _text("", self.left + 4, y + 12, _fit(self.label, inside)))
        if behind < min(length, 60) and before > length:
            return _tip(self.tip, box, _text(style, self.left - 5, y + 12, self.label, "end"))
        if behind > 30:
            return _tip(self.tip, box, _text(style, self.right + 5, y + 12, _fit(self.label, behind)))
        return _tip(self.tip, box)


def _both(first: Bar, second: Bar) -> Bar:
    kinds, count = {bar.style.split()[0] for bar in (first, second)}, first.spans + second.spans
    style = kinds.pop() if len(kinds) == 1 else "several"
    label = "%d %s" % (count, MANY[style])
    failed = [bar for bar in (first, second) if "failed" in bar.style]
    if failed:
        style, label = style + " failed", "%s and %d more" % (failed[0].label.partition(" and ")[0], count - 1)
    return Bar(first.left, max(first.right, second.right), style, label, "%s\n\n%s" % (first.tip[:2000], second.tip), count)


def _label(span: Span) -> str:
    whom = " (thread %d)" % span.awaited.thread if span.awaited else ""
    text = {
        "attempt": "init %s" % subject(span), "request": span.site[span.site.rfind("/") + 1:] or "callback",
        "factory": "makes %s" % aim(span), "wait": "waits for %s%s" % (aim(span), whom), "host_wait": "host's lock",
        "prepare": "%s %s" % ("asks can_init of" if "can_init" in span.name else "prepares", subject(span)),
    }[span.kind]
    if span.end is None:
        return "NOT ENDED: " + text
    return "failed: " + text.replace("init ", "", 1) if span.status < 0 else text


def _bar(span: Span, axis: Axis, traces: Sequence[Trace]) -> Bar:
    whom, from_there = span.awaited, "for what was started at %s" if span.kind == "wait" else "from %s"
    begun, took = seconds(span.start - axis.begin), seconds(last(span) - span.start)
    tip = [
        span.name + (" (attempt %d)" % span.number if span.kind == "attempt" else ""),
        "which thread %d is doing: %s" % (whom.thread, whom.name) if whom else "",
        from_there % span.site if span.site else "",
        "called at %s" % span.caller if span.kind == "wait" and span.caller else "",
        "%s after the beginning, took %s%s" % (begun, "at least " if span.end is None else "", took),
        "process %s, thread %d" % (called(span.process, traces), span.thread),
        "outcome: %s" % span.outcome,
    ]
    style = span.kind + (" open" if span.end is None else " failed" if span.status < 0 else "")
    left = axis.x(span.start)
    bar = Bar(left, max(axis.x(axis.end_of(span)), left + 2), style, _label(span), "\n".join(line for line in tip if line))
    if bar.is_short() and bar.style == "host_wait":
        bar.label = ""  # there are many, and nothing is wrong with them
    return bar


def _rows(spans: Sequence[Span], axis: Axis, traces: Sequence[Trace]) -> Dict[int, List[Bar]]:
    """The bars of a lane by their depth."""
    rows: Dict[int, List[Bar]] = {}
    for span in spans:
        bar, row = _bar(span, axis, traces), rows.setdefault(span.depth, [])
        if row and row[-1].is_short() and bar.is_short() and bar.left - row[-1].right < 1:
            row[-1] = _both(row[-1], bar)
        else:
            row.append(bar)
    return rows


def _lanes(process: Process, y: float, axis: Axis, traces: Sequence[Trace]) -> Tuple[List[str], List[str], float]:
    """What is behind the grid, what is before it, and where the next process begins."""
    name = "process %s" % process.pid
    if process.name:
        name += ": " + process.name
    elif len(traces) > 1:
        name += " (%s)" % os.path.basename(process.trace.path)
    behind, before = [], [_text("head", 8, y + 16, name)]
    top, y = y + 18, y + 24
    for index, (thread, spans) in enumerate(process.threads().items()):
        rows = _rows(spans, axis, traces)
        height = ROW * (max(rows) + 1) + 4
        if index % 2 == 0:
            behind.append(_box("band", 0, y, LEFT + WIDTH + RIGHT, height))
        before.append(_text("", 16, y + 16, ("main thread %d" if thread == process.pid else "thread %d") % thread))
        for depth, bars in rows.items():
            starts, ends = [LEFT, *(bar.right for bar in bars)], [*(bar.left for bar in bars[1:]), LEFT + WIDTH + RIGHT]
            before += [bar.draw(y + 4 + ROW * depth, start, end) for bar, start, end in zip(bars, starts, ends)]
        y += height
    if process.forked is not None:
        x, text = axis.x(process.forked), "forked off by process %s" % forker(process, traces)
        tip = "%s, %s after the beginning" % (text, seconds(process.forked - axis.begin))
        before.append(_tip(tip, _line("fork", x, top, y), _mark(x, top + 1)))
        is_right = x + 9 + len(text) * LETTER > LEFT + WIDTH + RIGHT
        before.append(_text("small", x - 9 if is_right else x + 9, top, text, "end" if is_right else "start"))
    return behind, before, y + 6


def _legend(y: float) -> List[str]:
    parts, x = [], 8.0
    for style, text in LEGEND:
        parts += [_box(style, x, y, 26, 12), _text("small beside", x + 32, y + 10, text)]
        x += 52 + len(text) * 6.1
    return [*parts, _mark(x + 5, y + 10), _text("small beside", x + 16, y + 10, "fork")]


def _frame(axis: Axis, bottom: float) -> List[str]:
    """The axis, above and below, and what is cut out."""
    top, height, parts = TOP - 8, bottom - TOP + 8, []
    for start, stop in axis.cuts:
        x, text = axis.x(start), "%s without an event" % seconds(stop - start)
        parts += [_tip(text, _box("cut", x, top, CUT, height)), _text("small", x + CUT / 2, bottom + 30, text, "middle")]
    if axis.end > axis.latest:
        x, right = axis.x(axis.latest), LEFT + WIDTH
        parts += [_box("cut", x, top, right - x, height), _text("small", (x + right) / 2, bottom + 17, "the trace ends", "middle")]
    for x, text in axis.ticks():
        parts += [_line("grid", x, top, bottom + 4)]
        parts += [_text("small", x, y, text, "middle") for y in (top - 4, bottom + 17)]
    return parts


def picture(traces: Sequence[Trace]) -> str:
    """The timeline, as SVG: each bar tells more when it is pointed at."""
    axis, processes = Axis(traces, LEFT, WIDTH), processes_of(traces)
    behind, before, y = [], [], float(TOP)
    for process in processes:
        bands, bars, y = _lanes(process, y, axis, traces)
        behind += bands
        before += bars
    threads = sum(len(process.threads()) for process in processes)
    title = ", ".join([counted(len(processes), "process"), counted(threads, "thread"), seconds(axis.latest - axis.begin)])
    head = _text("title", 8, 22, title if processes else "no event of lazyonce")
    width, height = LEFT + WIDTH + RIGHT, y + 38
    size = 'viewBox="0 0 %d %d" width="%d" height="%d"' % (width, height, width, height)
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" %s>' % size, "<style>%s</style>" % STYLE,
        '<rect class="back" width="100%" height="100%"/>', *behind, head, *_legend(34), *(_frame(axis, y) if processes else []),
        *before, "</svg>\n",
    ])
