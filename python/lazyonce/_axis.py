"""The time axis of a timeline."""
import itertools
import math
from typing import List, Sequence, Tuple

from ._events import Span, Trace
from ._table import begin_of, last, processes_of, spans_of

CUT = 46  # pixels for a time in which nothing happened
LETTER = 7  # pixels
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
        """Round times, at least 90 pixels apart, up to the last event, with room for their texts.

        From cut to cut, since what is cut out can be longer than what is drawn by any factor."""
        length = self.latest - self.begin
        unit, size = next(each for each in UNITS if length >= 2 * each[1] or each[1] == 1)
        for step in (digit * 10**power for power in itertools.count() for digit in (1, 2, 5)):
            decimals = max(0, math.ceil(math.log10(size / step)))
            room = LETTER * len("%.*f %s" % (decimals, length / size, unit))
            if step * self.scale >= max(90, room):
                break
        found: List[Tuple[float, str]] = []
        starts = [self.begin, *(stop for _, stop in self.cuts)]
        stops = [*(start - int(20 / self.scale) for start, _ in self.cuts), self.latest + 1]
        stops[0] = max(stops[0], self.begin + 1)  # the beginning has its time, however soon there is a cut
        for start, stop in zip(starts, stops):
            first = -((self.begin - start) // step)
            for number in range(first, -((self.begin - stop) // step)):
                x = self.x(self.begin + number * step)
                if not found or x - found[-1][0] >= room:
                    found.append((x, "%.*f %s" % (decimals, number * step / size, unit)))
        return found
