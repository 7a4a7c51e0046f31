"""Nothing reads good without its signal: for any files, what is green is what was earned.

The oracle below reads the files by itself, with plain json.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.support import run
from tests.scorecard.support import event, graded
from tests.support.fixtures import trace

TIMES = [f"2026-05-28T1{hour}:00:00.000Z" for hour in range(4)]
TS = st.sampled_from([*TIMES, "soon"])
RUN = st.sampled_from(["checkout-retry", None])
OUTCOME = st.sampled_from(["pass", "pass", "pass", "pass", "fail", None])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    ts = draw(TS)
    kind = draw(st.sampled_from(["grade", "grade", "work", "rejected", "alike", "broken", "note"]))
    if kind == "grade":
        said = graded(draw(OUTCOME), draw(OUTCOME), draw(OUTCOME), ts=ts)
    elif kind in {"rejected", "broken"}:
        said = graded("pass", "failed", "pass", ts=ts, run=draw(RUN))
    elif kind == "alike":
        said = event("correctness-record", ts=ts, run=draw(RUN))
    else:
        said = event("round-start" if kind == "work" else "retro-landed", ts=ts)
    record = json.loads(trace(said)) | {"event_id": str(draw(st.uuids(version=4)))}
    written = json.dumps(record).encode()
    return written.replace(b"failed", b"fa\xffil") if kind == "broken" else written


EXAMPLES = 60 if settings().derandomize else settings().max_examples
"""Each takes a while: few of them, but for `make fuzz`, which draws anew each time."""

FILES = st.lists(
    st.tuples(st.lists(lines(), max_size=5), st.sampled_from([False] * 9 + [True])),
    min_size=1,
    max_size=3,
)


def is_earned(  # noqa: C901, PLR0912 - an oracle in one piece, to be read from above
    files: list[tuple[list[bytes], bool]],
) -> bool:
    """Whether the one run of the files is CORRECT beyond doubt."""
    if any(is_unread for _, is_unread in files):
        return False
    grades, marks = [], []
    for at, (records, _) in enumerate(files):
        own = -1
        for number, record in enumerate(records):
            each = json.loads(record.decode("utf-8", "replace"))
            kind, ts = each["event_type"], each["ts"]
            triple = tuple(each.get(name) for name in ("mechanical", "qa", "intent"))
            if kind == "correctness-recorded" and set(triple) <= {"pass", "fail", None}:
                own = number
                last = (ts, at, number, triple)
            elif kind.startswith("correctness") or kind == "round-start":
                marks.append((kind == "round-start", ts, at, number))
        if own >= 0:
            grades.append(last)
    if not grades:
        return False
    decides, _, _, triple = max(grades, key=lambda each: each[:2])
    own_lines = {at: number for _, at, number, _ in grades}
    latest = {at for ts, at, _, _ in grades if ts == decides}
    if set(triple) != {"pass"}:
        return False
    if any(other[3] != triple and not (other[0] < decides != "soon") for other in grades):
        return False
    for is_work, ts, at, number in marks:
        if at in latest:
            if number > own_lines[at]:
                return False
        elif number > own_lines.get(at, -1):
            if "soon" in {ts, decides} or ts >= decides:
                return False
        elif is_work and "soon" not in {ts, decides} and ts >= decides:
            return False
    return True


@given(FILES)
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
def test_what_is_green_was_earned(files: list[tuple[list[bytes], bool]]) -> None:
    earned = is_earned(files)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{at}.jsonl") for at in range(len(files))]
        for path, (records, is_unread) in zip(paths, files, strict=True):
            whole = b"".join(each + b"\n" for each in records)
            path.write_bytes("{}".encode("utf-16") if is_unread else whole)
        text = run("score", "--require-correct", *paths)
        assert (text.code == 0) == earned
        html = run("report", "--format", "html", *paths).out
        assert bool(re.search(r'class="[^"]*\bcorrect\b', html)) == earned
        shown = run("score", "--format", "markdown", *paths).out
        assert ("**CORRECT**" in shown) == earned
        assert bool(re.search(r"^  CORRECT$", text.out, re.MULTILINE)) == earned
        table = run("score", "--format", "table", *paths).out
        assert bool(re.search(r"^checkout-retry +CORRECT(?!,)", table, re.MULTILINE)) == earned
