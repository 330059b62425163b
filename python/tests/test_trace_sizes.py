"""`python -m lazyonce trace` with times far apart, and with many events: by the square of their number it would pass the limit."""
import json
import re

import pytest
from alone import python
from traces import TOOL, bars, begin, end, picture, section


def told(folder, events):
    (folder / "trace.json").write_text("[\n" + "".join(json.dumps(each) + ",\n" for each in events))
    return python(*TOOL, folder / "trace.json", "-o", folder / "trace.svg")


def ticks(path):
    """The texts of the axis below the picture, with their places."""
    text = r'<text class="small" x="([0-9.]+)" y="([0-9.]+)" text-anchor="middle">([0-9.]+ [mnu]?s)<'
    found = re.findall(text, path.read_text())
    below = max(float(y) for _, y, _ in found)
    return [(float(x), text) for x, y, text in found if float(y) == below]


FAR = [
    [begin(0, "attempt"), end(20, "attempt"), begin(3600e6, "attempt"), end(3600e6 + 20, "attempt")],
    [begin(0), end(20), begin(3600e6), end(3600e6 + 20), begin(7200e6), end(7200e6 + 20)],
    [begin(0), end(0), begin(3600e6), end(3600e6)],
    [begin(0), end(20), begin(3600e6)],
    [begin(0), begin(9e18)], [begin(0), end(0), begin(9e18), end(9e18)], [begin(-9e18), end(9e18)],
]


@pytest.mark.parametrize("events", FAR, ids=range(len(FAR)))
def test_short_events_far_apart_have_an_axis_with_room_for_its_texts(tmp_path, events):
    assert "totals" in told(tmp_path, events) and picture(tmp_path / "trace.svg")
    places = ticks(tmp_path / "trace.svg")
    assert 1 <= len(places) < 15 and places[0][1].startswith("0")
    for (left, first), (right, second) in zip(places, places[1:]):
        assert right - left > 3 * (len(first) + len(second))  # half of each, at 6 pixels a letter


def test_both_sides_of_a_cut_have_times(tmp_path):
    told(tmp_path, FAR[0])
    texts = [text for _, text in ticks(tmp_path / "trace.svg")]
    assert {"0.000010 s", "3600.000010 s"} <= set(texts)


def test_each_of_many_waits_is_for_the_attempt_of_its_time(tmp_path):
    events = []
    for at in range(0, 4 * 30000, 4):
        events += [begin(at, "attempt", tid=1 + at // 4 % 2), begin(at + 1, "wait", tid=3),
                   end(at + 2, "attempt", tid=1 + at // 4 % 2), end(at + 3, "wait", tid=3)]
    said = told(tmp_path, events)
    waits = section(said, "waits")
    assert len(waits) == 30000 and [each["of thread"] for each in waits] == ["1", "2"] * 15000
    assert any("which thread 1 is doing" in tip for tip in bars(tmp_path / "trace.svg", "wait"))


def test_many_waits_beside_many_that_never_ended(tmp_path):
    many = range(30000)
    events = [begin(at, "attempt", tid=at % 1000) for at in many]
    events += [each for at in many for each in (begin(10**6 + 2 * at, "wait", tid=-1), end(10**6 + 2 * at + 1, "wait", tid=-1))]
    said = told(tmp_path, events)
    assert "of thread" not in said  # which of them, nobody knows


def test_many_ends_that_fit_to_nothing_open(tmp_path):
    said = told(tmp_path, [begin(at) for at in range(40000)] + [end(50000 + at, "wait") for at in range(40000)])
    assert "40000 pieces could not be read" in said and len(said) < 40000 * 200


def test_many_forks_beside_much_that_never_ended(tmp_path):
    events = [begin(at) for at in range(30000)]
    events += [{"ph": "i", "pid": 8 + at, "tid": 7, "ts": at, "cat": "fork", "args": {"parent": 7}} for at in range(2000)]
    assert len(section(told(tmp_path, events), "forks")) == 2000
