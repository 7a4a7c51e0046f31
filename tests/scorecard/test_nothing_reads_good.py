"""Nothing reads good without its signal: for any files, what is green is what was earned.

The oracle below reads the files by itself, with plain json.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.support import run
from tests.scorecard.support import event, graded
from tests.support.drawing import examples
from tests.support.fixtures import trace

TIMES = [f"2026-05-28T1{hour}:00:00.000Z" for hour in range(4)]
NO_ZONE = "2026-05-28T10:00:00"
TS = st.sampled_from([*TIMES, *TIMES, "soon", NO_ZONE])
IDS = st.sampled_from([f"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c9{digit}" for digit in range(6)])
"""Few, so that copies and conflicts happen."""
RUN = st.sampled_from(["checkout-retry", None])
OUTCOME = st.sampled_from(["pass", "pass", "pass", "pass", "fail", None])
GRADED = ("mechanical", "qa", "intent")
KINDS = (
    *("grade", "grade", "grade", "work", "rejected", "broken", "alike", "note"),
    *("rejected work", "unknown work", "untyped grade", "renamed grade", "rejected cost"),
    "torn",
)
TORN = b'{"schema_version":'
"""What a crash may leave: readers reject it, and it names no run."""
VALID = {"correctness-recorded", "round-start", "retro-landed"}


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    ts, run_id = draw(TS), draw(RUN)
    kind = draw(st.sampled_from(KINDS))
    if kind == "torn":
        return TORN
    given: dict[str, Any] = {name: draw(OUTCOME) for name in GRADED}
    said = {
        "grade": lambda: graded(*given.values(), ts=ts),
        "rejected": lambda: graded("pass", "failed", "pass", ts=ts, run=run_id),
        "broken": lambda: graded("pass", "failed", "pass", ts=ts, run=run_id),
        "alike": lambda: event("correctness-record", ts=ts, run=run_id),
        "work": lambda: event("round-start", ts=ts),
        "rejected work": lambda: event("round-start", ts=ts, round_number="one"),
        "unknown work": lambda: event("round-begun", ts=ts),
        "untyped grade": lambda: event(None, ts=ts, run=run_id, **given),
        "renamed grade": lambda: event("verdict-given", ts=ts, run=run_id, **given),
        "rejected cost": lambda: event("tokens-recorded", ts=ts, input_tokens=-1),
        "note": lambda: event("retro-landed", ts=ts),
    }[kind]()
    record = json.loads(trace(said)) | {"event_id": draw(IDS)}
    written = json.dumps(record).encode()
    return written.replace(b"failed", b"fa\xffil") if kind == "broken" else written


FILES = st.lists(
    st.tuples(st.lists(lines(), max_size=5), st.sampled_from([False] * 9 + [True])),
    min_size=1,
    max_size=3,
)


class Grade(NamedTuple):
    ts: str
    at: int
    number: int
    triple: tuple[object, ...]
    record: bytes


def is_certain(ts: str) -> bool:
    return ts.endswith("Z")


def is_doubtful(each: dict[str, Any]) -> bool:
    """Whether a record that is no grade may stand for work, or for a grade, of the run."""
    if each["event_type"] in {"retro-landed", "tokens-recorded"}:
        return False
    return each["project_run_id"] is not None or shows_grade(each)


def shows_grade(each: dict[str, Any]) -> bool:
    """Whether a record looks like a grade."""
    return set(GRADED) <= each.keys() or str(each["event_type"]).startswith("correctness")


def grades_and_doubts(
    files: list[tuple[list[bytes], bool]],
) -> tuple[dict[int, Grade], list[tuple[str, int, int, bool]]]:
    """The last grade of each file by the file's number, and where doubtful records stand."""
    last: dict[int, Grade] = {}
    doubts = []
    for at, (records, _) in enumerate(files):
        for number, record in enumerate(records):
            if record == TORN:
                continue
            each = json.loads(record.decode("utf-8", "replace"))
            triple = tuple(each.get(name) for name in GRADED)
            is_grade = each["event_type"] == "correctness-recorded"
            if is_grade and set(triple) <= {"pass", "fail", None}:
                last[at] = Grade(each["ts"], at, number, triple, record)
            elif is_doubtful(each):
                doubts.append((each["ts"], at, number, shows_grade(each)))
    return last, doubts


def is_torn_after(records: list[bytes], grade: Grade | None) -> bool:
    """Whether a torn line stands below a grade, or else below the run's last event in the file."""
    torn = [number for number, record in enumerate(records) if record == TORN]
    if grade is not None:
        above = grade.number
    else:
        events = [number for number, record in enumerate(records) if is_valid(record)]
        above = max(events, default=len(records))
    return bool(torn) and torn[-1] > above


def is_nameless(records: list[bytes]) -> bool:
    """Whether no line of a file names a run, so that it is not read as a trace."""
    legible = [json.loads(each.decode("utf-8", "replace")) for each in records if each != TORN]
    return bool(records) and all(each["project_run_id"] is None for each in legible)


def is_valid(record: bytes) -> bool:
    """Whether readers take a record for an event of the run."""
    if record == TORN:
        return False
    each = json.loads(record.decode("utf-8", "replace"))
    graded = {each.get(name) for name in GRADED} <= {"pass", "fail", None}
    return each["event_type"] in VALID and graded and each.get("round_number") != "one"


def identity(record: bytes) -> tuple[str, ...] | None:
    """What tells a copy of an event; None for what is no event."""
    if not is_valid(record):
        return None
    each = json.loads(record.decode("utf-8", "replace"))
    return each["event_id"], each["event_type"], each["ts"]


def has_later_grade(files: list[tuple[list[bytes], bool]], decides: Grade) -> bool:
    """Whether a grade that is not the last of its file is later by its time."""
    known = [each for records, _ in files for each in map(identity, records) if each is not None]
    later = [ts for _, name, ts in known if name == "correctness-recorded" and ts > decides.ts]
    return is_certain(decides.ts) and any(map(is_certain, later))


def is_copied_below(
    files: list[tuple[list[bytes], bool]], last: dict[int, Grade], copied: object
) -> bool:
    """Whether an event is the last grade of a file, and stands above that, too: of the same event
    in several files each may be the one that counts.
    """
    own = (each for each in last.values() if identity(each.record) == copied)
    return any(copied in map(identity, files[each.at][0][: each.number]) for each in own)


def is_earned(files: list[tuple[list[bytes], bool]]) -> bool:
    """Whether the one run of the files is CORRECT beyond doubt."""
    last, doubts = grades_and_doubts(files)
    if not last or any(is_unread or is_nameless(records) for records, is_unread in files):
        return False
    decides = max(last.values(), key=lambda grade: (grade.ts, grade.at))
    if set(decides.triple) != {"pass"}:
        return False
    copied = identity(decides.record)
    if is_copied_below(files, last, copied) or has_later_grade(files, decides):
        return False
    # Which files' lines are in order with the grade: its own, and those that may grade later, or
    # that have a copy of it.
    in_order = {
        grade.at
        for grade in last.values()
        if grade.ts >= decides.ts or not is_certain(grade.ts) or not is_certain(decides.ts)
    }
    in_order |= {at for at, (records, _) in enumerate(files) if copied in map(identity, records)}
    if any(last[at].triple != decides.triple for at in in_order):
        return False
    if any(
        is_torn_after(records, last[at] if at in in_order else None)
        for at, (records, _) in enumerate(files)
    ):
        return False
    for ts, at, number, may_grade in doubts:
        if may_grade and is_certain(decides.ts) and not (is_certain(ts) and ts <= decides.ts):
            return False
        if at not in in_order and is_certain(ts) and is_certain(decides.ts):
            if ts >= decides.ts:
                return False
        elif at not in last or number > last[at].number:
            return False
    return True


@given(FILES)
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
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
