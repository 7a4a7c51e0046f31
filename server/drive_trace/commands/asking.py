"""What commands that ask a model share: which model that is, and what it is shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from drive_trace.commands.models import Model, ModelError, ask_command, without_keys
from drive_trace.commands.options import API_KEYS
from drive_trace.commands.reading import usable
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, notify
from drive_trace.grading.prompts import JudgedCase, Prompt, is_diff
from drive_trace.storage.files import Problem, inside, read_bytes, read_regular, why
from drive_trace.storage.git import commit_named, repository_around, run_git
from drive_trace.text.spans import decode
from drive_trace.text.wording import json_document, printable, visible
from drive_trace.trace.times import sortable

if TYPE_CHECKING:
    from drive_trace.commands.http_models import HttpModel
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


class Asked(NamedTuple):
    """Which model, and how it is asked. The options of a command fill it by name."""

    model: str
    api: str | None
    base_url: str | None
    model_command: str | None
    timeout: float
    replay: str | None

    def check(self) -> None:
        """Raises UsageError unless one way to a model is named."""
        if sum(each is not None for each in (self.api, self.model_command, self.replay)) != 1:
            raise click.UsageError("name one of --api, --model-command and --replay")
        if self.base_url is not None and self.api is None:
            raise click.UsageError("--base-url is for --api")

    @property
    def destination(self) -> str:
        """Where prompts go, without any key."""
        if self.replay is not None:
            return f"the record {self.replay}"
        if self.model_command is not None:
            return f"the command {printable(without_keys(self.model_command), 200)}"
        return self._http("").url

    def reached(self, schema: Mapping[str, object] | None = None) -> Model:
        """The model, which a provider holds to a ``schema`` if it can. Raises UsageError where it
        cannot be asked, as there is no key.
        """
        if self.model_command is not None:
            return partial(ask_command, self.model_command, seconds=self.timeout)
        name = API_KEYS[str(self.api)]
        key = os.environ.get(name, "").strip()
        if not key:
            raise click.UsageError(f"there is no key in the environment variable {name}")
        return self._http(key, schema).grade

    def _http(self, key: str, schema: Mapping[str, object] | None = None) -> HttpModel:
        try:
            from drive_trace.commands.http_models import HttpModel  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise click.UsageError("--api needs the extra drive-trace[judge]") from error
        try:
            return HttpModel(self, key, schema)
        except ModelError as error:
            raise click.UsageError(str(error)) from error


def echo_json(value: object) -> None:
    """Print what a program reads."""
    click.echo(json_document(value))


def echo_prompt(prompt: Prompt, destination: str) -> None:
    """Print a prompt that would be sent somewhere."""
    # A terminal or a CI runner would obey what stands in a diff; JSON has its very characters.
    for line in prompt.text.split("\n"):
        click.echo("\t".join(map(visible, line.split("\t"))))
    notify(
        f"about {prompt.tokens:,} tokens, estimated at 4 bytes each; would be sent to {destination}"
    )


# What a judge is shown: the case, the diff and an excerpt of the trace


def read_case(path: str) -> JudgedCase:
    """An acceptance set: a file, or the folder of a case with ``acceptance.md`` in it. Ends the
    command if one cannot be read, or it is empty.
    """
    folder, files = Path(path), {"acceptance": Path(path)}
    if folder.is_dir():
        named = {field: folder / f"{field.replace('_', '-')}.md" for field in JudgedCase._fields}
        files = {
            field: file
            for field, file in named.items()
            if field == "acceptance" or os.path.lexists(file)
        }
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
    return JudgedCase(**texts)


def read_diff(path: str | None, repo: str, commits: str) -> str:
    """A diff in a file, or on standard input for ``-``; else that of a range of commits, as git
    makes it. Ends the command if it is none.
    """
    if path is not None:
        return _diff(path, usable(read_bytes(path, _LARGEST_DIFF)))
    if _RANGE.fullmatch(commits) is None:
        raise Ended(EXIT_UNUSABLE, f"{commits}: is no range of commits, such as main..HEAD")
    if not Path(repo).is_dir():
        raise Ended(EXIT_UNUSABLE, f"{repo}: no such folder")
    found = run_git(repo, *_DIFF, commits, "--", most=_LARGEST_DIFF)
    if isinstance(found, Problem) and repository_around(Path(repo).resolve()):
        for name in re.split(r"\.\.\.?", commits):
            if commit_named(name, repo) is None:
                raise Ended(EXIT_UNUSABLE, f"{commits}: there is no commit {name} in {repo}")
    return _diff(f"{repo} {commits}", usable(found))


def _diff(name: str, data: bytes) -> str:
    text = decode(data)
    if not text.strip():
        raise Ended(EXIT_UNUSABLE, f"{name}: the diff is empty: there is nothing to judge")
    if not is_diff(text):
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
