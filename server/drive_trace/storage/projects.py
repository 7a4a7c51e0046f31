"""The configuration and the baseline of a trace: where they are, and what they say."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from drive_trace.linter.rule import DEFAULTS, RuleSettings, Severity
from drive_trace.storage.baseline import (
    BASELINE_NAME,
    Baseline,
    BaselineError,
    Known,
    read_baseline,
    write_baseline,
)
from drive_trace.storage.boundary import inside
from drive_trace.storage.files import (
    SMALL,
    STDIN,
    LinkOutError,
    Problem,
    config_folder,
    may_be_there,
    read_regular,
    version_of,
    why,
)
from drive_trace.storage.patterns import patterns_of
from drive_trace.storage.replace import write_whole
from drive_trace.text.spans import Span, Spot

Content = TypeVar("Content")

CONFIGURATION_NAME = "drive-trace.toml"
RULE_URL = re.compile(r"https?://[^\s{}]*\{code\}[^\s{}]*")

SEVERITIES: Mapping[str, Severity | None] = {
    "off": None,
    **{severity.label: severity for severity in Severity},
}
"""The severities that a rule can be set to, by their words; None turns it off."""


class TextProblem(NamedTuple):
    """Why the text of a configuration or a baseline cannot be used, and where in it."""

    spot: Spot
    message: str


class Override(NamedTuple):
    """Settings of some files, in place of those of all."""

    globs: tuple[str, ...]
    rules: RuleSettings


class JudgeSettings(NamedTuple):
    """What has to be known of models before one may judge."""

    orchestrator: str | None = None
    """The family, or the model's id, of the orchestrator that runs the work."""
    families: Mapping[str, tuple[str, ...]] = {}
    """More families of models, each with the words that its models' ids have."""


_ANY_JUDGE = JudgeSettings()


@dataclass(frozen=True, slots=True)
class Configuration:
    """The content of a ``drive-trace.toml``."""

    rules: RuleSettings = DEFAULTS
    overrides: tuple[Override, ...] = ()
    """In their order: where two match a file, the later one decides."""
    rule_url: str = ""
    """The address of a rule's page in what others read, with ``{code}`` for the rule's."""
    judge: JudgeSettings = _ANY_JUDGE
    exclude: tuple[str, ...] = ()
    """Globs of files that searches leave out. A search alone looks at them."""

    def settings_for(self, path: str | None) -> RuleSettings:
        """The settings of a file, by its path from the configuration's folder, with ``/`` in
        between; None is a file that is not below that folder.
        """
        settings = self.rules
        for globs, rules in self.overrides:
            if path is not None and patterns_of(globs).hold(path):
                settings = settings.under(rules)
        return settings


class FileProblem(NamedTuple):
    """Why a configuration or a baseline cannot be used."""

    file: Path
    reason: str
    spot: Spot | None = None
    """None if the file cannot be read at all."""
    line: str = ""
    """The text of the line at the spot."""

    @property
    def problem(self) -> Problem:
        """The same as a message, with the place in the file."""
        place = shown_path(self.file)
        if self.spot is not None:
            place += f":{self.spot.record + 1}:{self.spot.span.start + 1}"
        return Problem(place, self.reason)


class Project(NamedTuple):
    """The configuration and the baseline of a folder's traces."""

    folder: Path
    """Globs, and the paths in the baseline, start here."""
    configuration: Configuration
    baseline: Baseline
    problems: tuple[FileProblem, ...] = ()
    """Why the configuration or the baseline cannot be used. Until it can, the last one that was
    read stays in use.
    """
    configuration_path: Path | None = None
    """None where there is no configuration."""
    trusted: bool = False
    """Whether what it says may raise trust, or take something out of a gate: as it is the user's
    own, or the user says so. Otherwise whoever is judged may have written it.
    """

    @property
    def baseline_path(self) -> Path:
        """Where the baseline is, or would be."""
        return self.folder / BASELINE_NAME

    def settings_for(self, path: str) -> RuleSettings:
        """How the rules are run over a trace; ``-`` is standard input."""
        if path == STDIN or not (self.configuration.overrides or self.baseline.files):
            return self.configuration.settings_for(None)
        inner = self.path_of(path)
        settings = self.configuration.settings_for(None if inner.startswith("../") else inner)
        known = self.baseline.known(inner)
        return replace(settings, known=known) if known else settings

    def path_of(self, path: str) -> str:
        """A trace's path from the folder, with ``/`` in between."""
        found = relative(absolute(path), str(self.folder))
        if found.startswith("../"):  # as where one of the two is reached through a link
            real = relative(os.path.realpath(path), os.path.realpath(self.folder))
            return found if real.startswith("../") else real
        return found


Above: TypeAlias = dict[tuple[str, str], Path | None]
"""Where the nearest file of a name is, in a folder or above it."""


class Projects:
    """Finds the project of each trace, and reads files again when they change on disk."""

    def __init__(
        self,
        base: str,
        *,
        configuration: str | None = None,
        with_baseline: bool = True,
        trusted: bool | str = False,
    ) -> None:
        """``base`` is the project's folder for traces below it that have neither a configuration
        nor a baseline above them, as the current folder or an editor's workspace is. A given
        ``configuration`` is that of all traces, and ``trusted``. So are those that are found if the
        user says so; if that is a commit, they are read as they stand in it.
        """
        self._commit = commit = trusted if isinstance(trusted, str) else None
        self._trusted = bool(trusted) or configuration is not None
        self._base = Path(absolute(base))
        self._given = Path(absolute(configuration)) if configuration is not None else None
        self._with_baseline = with_baseline
        self._configurations = ParsedFiles(_configuration_in, Configuration(), commit)
        self._baselines = ParsedFiles(_baseline_in, Baseline(), commit)

    def of(self, path: str, known: Above | None = None) -> Project:
        """The project of a trace: that of the nearest configuration in the folders above it, or
        else of the nearest baseline. What several traces have above them is looked for once, if
        they are given the same ``known``, empty at first.

        Where a path is a link, the folders above the link count, not those of where it leads.
        """
        known = {} if known is None else known
        above = self._base / STDIN if path == STDIN else Path(absolute(path))
        found = self._given or self._nearest(above, CONFIGURATION_NAME, known)
        folder = found.parent if found is not None else self._unconfigured(above, known)
        problems: list[FileProblem] = []
        configuration = Configuration()
        if found is not None:
            configuration = self._configurations.read(
                found, problems, is_named=self._given is not None
            )
        baseline = Baseline()
        if self._with_baseline and self._is_there(folder / BASELINE_NAME):
            baseline = self._baselines.read(folder / BASELINE_NAME, problems)
        return Project(
            folder, configuration, baseline, tuple(problems), found, trusted=self._trusted
        )

    def _unconfigured(self, above: Path, known: Above) -> Path:
        """The folder for the baseline of a trace without a configuration. It is above the trace,
        so that the baseline is found from any current folder.
        """
        baseline = self._nearest(above, BASELINE_NAME, known)
        if baseline is not None:
            return baseline.parent
        return self._base if above.parent.is_relative_to(self._base) else above.parent

    def _is_there(self, path: Path | str) -> bool:
        if self._commit is not None:
            return _committed(self._commit, path) is not None
        return may_be_there(path)

    def _nearest(self, path: Path, name: str, known: Above) -> Path | None:
        """The file of a name in the nearest folder above a path."""
        above: Path | None = None
        passed: list[tuple[str, str]] = []
        folder, inner = os.path.split(
            path
        )  # Path is slow, and this is done for each of many traces
        while inner:
            if (folder, name) in known:
                above = known[folder, name]
                break
            passed.append((folder, name))
            found = os.path.join(folder, name)  # noqa: PTH118
            # A link that leads nowhere is a mistake to report; a folder of that name is not.
            if self._is_there(found) and (self._commit or not os.path.isdir(found)):  # noqa: PTH112
                above = Path(found)
                break
            folder, inner = os.path.split(folder)
        known.update(dict.fromkeys(passed[1:], above))  # the last folder has few traces
        return above


def own_project() -> Project:
    """The user's own settings, which count for what whoever is judged must not decide."""
    path, content = config_folder() / CONFIGURATION_NAME, Configuration()
    problems: list[FileProblem] = []
    if may_be_there(path):
        files = ParsedFiles(_configuration_in, content)
        content = files.read(path, problems, is_named=True)
    return Project(path.parent, content, Baseline(), tuple(problems), path, trusted=True)


def write_known(project: Project, files: Mapping[str, Known]) -> Problem | None:
    """Write a project's baseline with the known findings of some files, which are named as by
    :meth:`Project.path_of`. What it knows of other files stays, if those still exist.

    Only a baseline is replaced, and only one in the project's folder.
    """
    path, shown = project.baseline_path, shown_path(project.baseline_path)
    before: list[FileProblem] = []
    known = Baseline()
    if may_be_there(path):
        known = ParsedFiles(_baseline_in, known).read(path, before)
    if before:
        place, reason = before[0].problem
        return Problem(place, f"{reason} (it is not replaced)")
    there = {name: known for name, known in known.files.items() if may_be_there(path.parent / name)}
    # Bytes of a file's name that are no text become escapes in JSON.
    text = write_baseline(Baseline(there).with_files(files))
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > SMALL:
        return Problem(shown, "is not written: it would have more bytes than are read of one")
    try:
        write_whole(inside(path), data)
    except OSError as error:
        return Problem(shown, f"cannot be written: {why(error)}")
    return None


def _committed(commit: str, path: Path | str) -> bytes | None:
    from drive_trace.storage.git import committed_file  # noqa: PLC0415 - few need git

    return committed_file(commit, str(path))


def _configuration_in(text: str) -> Configuration | tuple[TextProblem, ...]:
    # Most traces have none, and loading the reader takes longer than a small check.
    from drive_trace.storage.configuration_text import read_configuration  # noqa: PLC0415

    return read_configuration(text)


def _baseline_in(text: str) -> Baseline | tuple[TextProblem, ...]:
    try:
        return read_baseline(text)
    except BaselineError as error:
        record, start = text.count("\n", 0, error.at), text.rfind("\n", 0, error.at) + 1
        spot = Spot(record, Span(error.at - start, error.at - start))
        phrase = f"is no baseline: {error}; remove it, and write it again with --write-baseline"
        return (TextProblem(spot, phrase),)


class ParsedFiles(Generic[Content]):
    """Reads files of one kind, and each again only when it changed."""

    def __init__(
        self,
        parse: Callable[[str], Content | tuple[TextProblem, ...]],
        default: Content,
        commit: str | None = None,
    ) -> None:
        """With a ``commit``, the files are read as they stand in it."""
        self._parse = parse
        self._commit = commit
        self._known: dict[Path, tuple[tuple[int, ...], Content, tuple[FileProblem, ...]]] = {}
        self._default = default

    def read(self, path: Path, problems: list[FileProblem], *, is_named: bool = False) -> Content:
        """The content of a file. What is wrong with it is appended to ``problems``, also that it is
        a link out of the repository, unless somebody has named it.
        """
        before, content, found = self._known.get(path, ((), self._default, ()))
        version: tuple[int, ...] = ()
        try:
            data = _committed(self._commit, path) if self._commit and not is_named else None
            version = version_of(path.stat()) if data is None else (len(data),)
            if version != before:
                if data is None:
                    data = read_regular(path if is_named else inside(path, path.parent))
                text = data.decode("utf-8-sig")
                read = self._parse(text)
                if isinstance(read, tuple):
                    found = _file_problems(path, text, read)
                else:
                    content, found = read, ()
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x}"
            found = (FileProblem(path, f"is not UTF-8 ({byte}); save it as UTF-8"),)
        except OSError as error:
            version = ()  # what kept it from being read may be gone next time
            may = "not" if isinstance(error, LinkOutError) else "cannot be"
            found = (FileProblem(path, f"{may} read: {why(error)}"),)
        self._known[path] = (version, content, found)
        problems += found
        return content


def _file_problems(
    path: Path, text: str, problems: tuple[TextProblem, ...]
) -> tuple[FileProblem, ...]:
    lines = text.split("\n")
    return tuple(FileProblem(path, phrase, spot, lines[spot.record]) for spot, phrase in problems)


def shown_path(path: Path) -> str:
    """A path for people: from the current folder, if it is in there."""
    try:
        return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    except OSError:
        return str(path)


def absolute(path: str | Path) -> str:
    """A path from the root on. Links are not followed."""
    try:
        return os.path.abspath(path)  # noqa: PTH100 - that would follow links
    except OSError:  # as in a current folder that is gone
        return str(path)


def relative(path: str, folder: str) -> str:
    """A path from a folder on, with ``/`` in between; as it is where there is no way."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except (OSError, ValueError):  # as from one drive to another
        return Path(path).as_posix()
