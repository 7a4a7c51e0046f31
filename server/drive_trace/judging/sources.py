"""What a judge is shown: the case, the diff and an excerpt of the trace."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from drive_trace.grading.prompts import JudgedCase, is_diff
from drive_trace.storage.files import Problem, inside, read_bytes, read_regular, why
from drive_trace.storage.git import run_git
from drive_trace.text.spans import decode
from drive_trace.trace.reading import read_lines
from drive_trace.trace.times import sortable

LARGEST_DIFF = 64 << 20
_SECONDS = 60.0
_FIRST, _LAST = 40, 160
"""So many of a run's events are shown from its beginning, and from its end."""
_LONGEST = 2_000
"""Characters of one event."""
_RANGE = re.compile(r"[^-\s][^\s]*?\.\.\.?[^\s]+")
# What a repository's own files and configuration may name is not run; nor do they hide from the
# judge what was changed.
_DIFF = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--text"),
    *("--no-relative", "-O/dev/null", "--ignore-submodules=none", "-U3"),
    *("--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"),
)


def read_case(path: str) -> JudgedCase | Problem:
    """An acceptance set: a file, or the folder of a case with ``acceptance.md`` in it."""
    folder = Path(path)
    if not folder.is_dir():
        return _case({"acceptance": path})
    files = {
        field: str(folder / f"{field.replace('_', '-')}.md")
        for field in JudgedCase._fields
        if field == "acceptance" or os.path.lexists(folder / f"{field.replace('_', '-')}.md")
    }
    try:
        for each in files.values():
            inside(Path(each), folder)
    except OSError as error:
        return Problem(path, f"not read: {why(error)}")
    return _case(files)


def _case(files: dict[str, str]) -> JudgedCase | Problem:
    texts = {}
    for field, path in files.items():
        try:
            texts[field] = read_regular(path).decode()
        except UnicodeDecodeError:
            return Problem(path, "is not UTF-8")
        except (OSError, ValueError) as error:
            return Problem(path, f"cannot be read: {why(error)}")
    if not texts["acceptance"].strip():
        return Problem(files["acceptance"], "is empty: there is nothing to judge by")
    return JudgedCase(**texts)


def read_diff(path: str) -> str | Problem:
    """A diff in a file, or on standard input for ``-``."""
    data = read_bytes(path, LARGEST_DIFF)
    return data if isinstance(data, Problem) else _diff(path, data)


def diff_of(repo: str, commits: str) -> str | Problem:
    """The diff of a range of commits, as git makes it."""
    if _RANGE.fullmatch(commits) is None:
        return Problem(commits, "is no range of commits, such as main..HEAD")
    # Outside of a repository git compares files instead, and explains at length how.
    known = run_git(
        repo, "rev-parse", "--git-dir", seconds=_SECONDS, most=1 << 20, with_errors=False
    )
    if isinstance(known, Problem):
        return Problem(repo, f"is no git repository that can be read: {known.reason}")
    found = run_git(repo, *_DIFF, commits, "--", seconds=_SECONDS, most=LARGEST_DIFF)
    return found if isinstance(found, Problem) else _diff(f"{repo} {commits}", found)


def _diff(name: str, data: bytes) -> str | Problem:
    text = decode(data)
    if not text.strip():
        return Problem(name, "the diff is empty: there is nothing to judge")
    if not is_diff(text):
        return Problem(name, "is no diff: it has neither a file's header nor a hunk in it")
    return text


def excerpt(traces: Iterable[Sequence[str]], run_id: str) -> tuple[list[str], tuple[str, ...]]:
    """A run's events as they stand in its traces, the trace first that begins first, and what is
    left out: those in the middle of a long run. Its grades and costs are not in it: what comes of
    these others have judged.
    """
    files = [list(_events(records, run_id)) for records in traces]
    files.sort(key=lambda events: events[0][0] if events else "")
    # A copy of an event says nothing more.
    events = list(dict.fromkeys(text for _, text in chain(*files)))
    left_out = len(events) - _FIRST - _LAST
    if left_out <= 0:
        return events, ()
    phrase = f"{left_out:,} events in the middle of the run"
    events[_FIRST:-_LAST] = [f"[{phrase} left out]"]
    return events, (phrase,)


def _events(records: Sequence[str], run_id: str) -> Iterator[tuple[str, str]]:
    """Each with its time, as it sorts."""
    for line in read_lines(records):
        if line.event is not None and line.run == run_id and not line.event.is_feed:
            text = line.text
            text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [cut off]"
            yield sortable(line.text_fact("ts")) or "", text
