"""The time axis of a timeline."""
import math
from typing import List, Sequence, Tuple

from ._events import Span, Trace
from ._table import begin_of, last, processes_of, spans_of

CUT = 46  # pixels for a time in which nothing happened
UNITS = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


class Axis:
    """Where a time is, in pixels. A time in which nothing happened, longer than a tenth of all, is cut out."""

    def __init__(self, traces: Sequence[Trace], left: int, width: int) -> None:
        self.left = left
        spans, forks = spans_of(traces), [process.forked for process in processes_of(traces) if process.forked is not None]
        self.begin = begin_of(traces)
        self.end = self.latest = max([last(span) for span in spans] + forks + [self.begin + 1])
        # What has not ended is what the picture was asked for: there is room for it behind the last event.
        if any(span.end is None for span in spans):
            self.end += (self.latest - self.begin) // 4
        self.cuts = self._quiet([(span.start, self.end_of(span)) for span in spans] + [(fork, fork) for fork in forks])
        drawn = self.end - self.begin - sum(stop - start for start, stop in self.cuts)
        self.scale = (width - CUT * len(self.cuts)) / max(1, drawn)

    def _quiet(self, busy: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
        gaps, end = [], self.begin
        for start, stop in sorted(busy):
            if start - end > (self.end - self.begin) / 10:
                gaps.append((end, start))
            end = max(end, stop)
        rest = self.end - self.begin - sum(stop - start for start, stop in gaps)
        return [(start + margin, stop - margin) for start, stop in gaps for margin in [min(stop - start, rest) // 20]]

    def end_of(self, span: Span) -> int:
        return self.end if span.end is None else span.end

    def x(self, at: int) -> float:
        place, begin = float(self.left), self.begin
        for start, stop in self.cuts:
            if at <= start:
                break
            place += (start - begin) * self.scale
            if at < stop:
                return place + CUT * (at - start) / (stop - start)
            place, begin = place + CUT, stop
        return place + (at - begin) * self.scale

    def ticks(self) -> List[Tuple[float, str]]:
        """Round times, at least 90 pixels apart, up to the last event."""
        sizes = (size * 10**power for power in range(20) for size in (1, 2, 5))
        step = next(size for size in sizes if size * self.scale >= 90)
        unit, size = next(each for each in UNITS if self.latest - self.begin >= 2 * each[1] or each[1] == 1)
        decimals = max(0, math.ceil(math.log10(size / step)))
        found = []
        for number in range((self.latest - self.begin) // step + 1):
            at = self.begin + number * step
            if not any(start - 20 / self.scale < at < stop for start, stop in self.cuts):
                found.append((self.x(at), "%.*f %s" % (decimals, number * step / size, unit)))
        return found
