"""What a judge is shown: the case, the diff and an excerpt of the trace."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from drive_trace.commands import reading
from drive_trace.commands.models import without_keys
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended
from drive_trace.grading import prompts
from drive_trace.storage import git
from drive_trace.storage.files import Problem, inside, read_bytes, read_regular, why
from drive_trace.text import spans
from drive_trace.trace.times import sortable

if TYPE_CHECKING:
    from drive_trace.scorecard.scoring import ScoredTrace

_LARGEST_DIFF = 64 << 20
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


def read_case(path: str | Path) -> prompts.JudgedCase:
    """An acceptance set: a file, or the folder of a case with ``acceptance.md`` in it. Ends the
    command if one cannot be read, or it is empty. Without any key of ours.
    """
    folder, files = Path(path), {"acceptance": Path(path)}
    if folder.is_dir():
        fields = prompts.JudgedCase._fields
        named = {each: folder / f"{each.replace('_', '-')}.md" for each in fields}
        there = {each: file for each, file in named.items() if os.path.lexists(file)}
        files = {"acceptance": named["acceptance"]} | there
    texts = {}
    for field, file in files.items():
        try:
            is_beside = file != folder
            real = inside(file, folder) if is_beside else file
            texts[field] = read_regular(real, is_real=is_beside).decode()
        except UnicodeDecodeError as error:
            raise Ended(EXIT_UNUSABLE, f"{file}: is not UTF-8") from error
        except (OSError, ValueError) as error:
            raise Ended(EXIT_UNUSABLE, f"{file}: cannot be read: {why(error)}") from error
    if not texts["acceptance"].strip():
        what = f"{files['acceptance']}: is empty: there is nothing to judge by"
        raise Ended(EXIT_UNUSABLE, what)
    return prompts.JudgedCase(**{field: without_keys(text) for field, text in texts.items()})


def read_diff(path: str | None, repo: str, commits: str) -> str:
    """A diff in a file, or on standard input for ``-``; else that of a range of commits, as git
    makes it. Ends the command if it is none.
    """
    if path is not None:
        return _diff(path, reading.usable(read_bytes(path, _LARGEST_DIFF)))
    if _RANGE.fullmatch(commits) is None:
        raise Ended(EXIT_UNUSABLE, f"{commits}: is no range of commits, such as main..HEAD")
    if not Path(repo).is_dir():
        raise Ended(EXIT_UNUSABLE, f"{repo}: no such folder")
    found = git.run_git(repo, *_DIFF, commits, "--", most=_LARGEST_DIFF)
    if isinstance(found, Problem) and git.repository_around(Path(repo).resolve()):
        for name in re.split(r"\.\.\.?", commits):
            if git.commit_named(name, repo) is None:
                raise Ended(EXIT_UNUSABLE, f"{commits}: there is no commit {name} in {repo}")
    return _diff(f"{repo} {commits}", reading.usable(found))


def _diff(name: str, data: bytes) -> str:
    text = spans.decode(data)
    if not text.strip():
        raise Ended(EXIT_UNUSABLE, f"{name}: the diff is empty: there is nothing to judge")
    if not prompts.is_diff(text):
        what = f"{name}: is no diff: it has neither a file's header nor a hunk in it"
        raise Ended(EXIT_UNUSABLE, what)
    return text


def excerpt(traces: Iterable[ScoredTrace], run_id: str) -> tuple[list[str], tuple[str, ...]]:
    """A run's events as they stand in its traces, the trace first that begins first, and what is
    left out: those in the middle of a long run. Its grades and costs are not in it: what comes of
    these others have judged.
    """
    files = [list(_events(trace, run_id)) for trace in traces]
    files.sort(key=lambda events: events[0][0] if events else "")
    # A copy of an event says nothing more.
    events = list(dict.fromkeys(text for file in files for _, text in file))
    left_out = len(events) - _FIRST - _LAST
    if left_out <= 0:
        return events, ()
    phrase = f"{left_out:,} events in the middle of the run"
    events[_FIRST:-_LAST] = [f"[{phrase} left out]"]
    return events, (phrase,)


def _events(trace: ScoredTrace, run_id: str) -> Iterator[tuple[str, str]]:
    """Each with its time, as it sorts."""
    for line in trace.document.lines:
        if line.event is not None and line.run == run_id and not line.event.is_feed:
            text = line.text
            text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [cut off]"
            yield sortable(line.text_fact("ts")) or "", text
