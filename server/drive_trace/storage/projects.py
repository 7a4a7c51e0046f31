"""The configuration and the baseline of a trace: where they are, and what they say.

The baseline has findings that are known already, and not shown again. A fingerprint identifies a
finding by its rule and the text of its line, so that it stays known when lines are added above it,
and is new when its line changes. The baseline also counts the lines with that text: one more is
new.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from drive_trace.json_text import STRICT
from drive_trace.linter.settings import RuleSettings, fingerprint
from drive_trace.storage import files as disk
from drive_trace.storage.configuration import CONFIGURATION_NAME, Configuration
from drive_trace.storage.patterns import BASELINE_NAME
from drive_trace.storage.replace import write_whole
from drive_trace.text.spans import Span, Spot
from drive_trace.text.wording import printable

Known = Mapping[str, Mapping[str, int]]
"""The findings in one file by the code of their rule: on how many lines, by fingerprint."""


_Fingerprint = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Count = Annotated[int, msgspec.Meta(ge=1)]


_REFUSED_BY_SOME = "it has a key twice, NaN, a number too large, or is nested too deeply"
"""What some readers of JSON refuse, or take otherwise."""
_NO_BASELINE = "is no baseline: {}; remove it, and write it again with --write-baseline"


class _File(Struct):
    """A baseline as it stands in its file."""

    version: Literal[2]
    files: dict[str, dict[str, dict[_Fingerprint, _Count]]]


class Baseline(Struct, frozen=True):
    """The known findings by file: its path from the baseline's folder, with ``/`` in between."""

    files: Mapping[str, Known] = {}

    def known(self, path: str) -> Mapping[str, int]:
        """The fingerprints of a file's known findings, each with its number of lines."""
        by_rule = self.files.get(path, {})
        return {print_: count for each in by_rule.values() for print_, count in each.items()}


def read_baseline(text: str) -> Baseline | tuple[TextProblem, ...]:
    """Read a baseline, or say why a text is none."""
    try:
        return Baseline(msgspec.convert(json.loads(text, **STRICT), _File).files)
    except json.JSONDecodeError as error:
        at, reason = error.pos, f"it is not JSON: {error.msg}"
    except msgspec.ValidationError as error:
        at, reason = 0, f"it is another shape: {printable(str(error), 200)}"
    except (RecursionError, ValueError):
        at, reason = 0, _REFUSED_BY_SOME
    return (TextProblem(Span(at, at), _NO_BASELINE.format(reason)),)


def write_baseline(baseline: Baseline) -> str:
    """The text of a baseline: sorted, and one finding a line, so that diffs are readable."""
    files = {
        path: {code: dict(sorted(known[code].items())) for code in sorted(known)}
        for path, known in sorted(baseline.files.items())
    }
    return json.dumps({"version": 2, "files": files}, indent=2, ensure_ascii=False) + "\n"


# The configuration, and where both are


Content = TypeVar("Content")


class TextProblem(NamedTuple):
    """Why the text of a configuration or a baseline cannot be used, and where in it."""

    span: Span
    """In a text whose lines end with ``\\n``."""
    message: str


def spot_of(text: str, span: Span) -> Spot:
    """The line and the columns of a span; if it spans several lines, of its part on the first."""
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.start)
    end = span.end if end < 0 else min(span.end, end)
    return Spot(text.count("\n", 0, span.start), Span(span.start - start, end - start))


class FileProblem(Struct, frozen=True):
    """Why a configuration or a baseline cannot be used."""

    file: Path
    reason: str
    spot: Spot | None = None
    """None if the file cannot be read at all."""
    line: str = ""
    """The text of the line at the spot."""

    @property
    def problem(self) -> disk.Problem:
        """The same as a message, with the place in the file."""
        place = shown_path(self.file)
        if self.spot is not None:
            place += f":{self.spot.record + 1}:{self.spot.span.start + 1}"
        return disk.Problem(place, self.reason)


class Project(Struct, frozen=True):
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

    @property
    def files(self) -> Sequence[str]:
        """Where its configuration and its baseline are, or would be."""
        return [str(each) for each in (self.configuration_path, self.baseline_path) if each]

    def settings_for(self, path: str) -> RuleSettings:
        """How the rules are run over a trace; ``-`` is standard input."""
        if path == disk.STDIN or not (self.configuration.overrides or self.baseline.files):
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
        *others: str,
        configuration: str | None = None,
        with_baseline: bool = True,
        trusted: bool | str = False,
    ) -> None:
        """``base`` is the project's folder for traces below it that have neither a configuration
        nor a baseline above them, as the current folder or an editor's workspace is; so are the
        ``others``, of those that are folders. A given
        ``configuration`` is that of all traces, and ``trusted``. So are those that are found if the
        user says so; if that is a commit, they are read as they stand in it.
        """
        self._commit = commit = trusted if isinstance(trusted, str) else None
        self._trusted = bool(trusted) or configuration is not None
        self._base, *self._others = (Path(absolute(each)) for each in (base, *others))
        self._given = Path(absolute(configuration)) if configuration is not None else None
        self._with_baseline = with_baseline
        self._names = (CONFIGURATION_NAME, *[BASELINE_NAME] * with_baseline)
        self._configurations = ParsedFiles(_configuration_in, Configuration(), commit)
        self._baselines = ParsedFiles(read_baseline, Baseline(), commit)

    def of(self, path: str, known: Above | None = None) -> Project:
        """The project of a trace: that of the nearest configuration in the folders above it, or
        else of the nearest baseline. What several traces have above them is looked for once, if
        they are given the same ``known``, empty at first.

        Where a path is a link, the folders above the link count, not those of where it leads.
        """
        known = {} if known is None else known
        above = self._base / disk.STDIN if path == disk.STDIN else Path(absolute(path))
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

    def may_configure(self, path: str, known: Above) -> bool:
        """Whether a trace may have a configuration or a baseline. False costs little."""
        if self._given is not None or path == disk.STDIN:
            return True
        path = absolute(path)
        return any(self._nearest(path, each, known) is not None for each in self._names)

    def _unconfigured(self, above: Path, known: Above) -> Path:
        """The folder for the baseline of a trace without a configuration. It is above the trace,
        so that the baseline is found from any current folder.
        """
        baseline = self._nearest(above, BASELINE_NAME, known)
        if baseline is not None:
            return baseline.parent
        bases = (self._base, *self._others)
        return next((each for each in bases if above.parent.is_relative_to(each)), above.parent)

    def _is_there(self, path: Path | str) -> bool:
        if self._commit is not None:
            return _committed(self._commit, path) is not None
        return disk.may_be_there(path)

    def _nearest(self, path: str | Path, name: str, known: Above) -> Path | None:
        """The file of a name in the nearest folder above a path."""
        folder, inner = os.path.split(path)  # Path is slow, and there are many traces
        passed = list[tuple[str, str]]()
        above: Path | None = None
        while above is None and inner and (folder, name) not in known:
            passed.append((folder, name))
            found = os.path.join(folder, name)  # noqa: PTH118
            # A link that leads nowhere is a mistake to report; a folder of that name is not.
            if self._is_there(found) and (self._commit or not os.path.isdir(found)):  # noqa: PTH112
                above = Path(found)
            folder, inner = os.path.split(folder)
        above = above or known.get((folder, name))
        known.update(dict.fromkeys(passed, above))
        return above


def own_project() -> Project:
    """The user's own settings, which count for what whoever is judged must not decide."""
    path = disk.config_folder() / CONFIGURATION_NAME
    if disk.may_be_there(path):
        return Projects(".", configuration=str(path), with_baseline=False).of(disk.STDIN)
    return Project(path.parent, Configuration(), Baseline(), (), path, trusted=True)


def write_known(project: Project, files: Mapping[str, Known]) -> disk.Problem | None:
    """Write a project's baseline with the known findings of some files, which are named as by
    :meth:`Project.path_of`. What it knows of other files stays, if those still exist.

    Only a baseline is replaced, and only one in the project's folder.
    """
    path, shown = project.baseline_path, shown_path(project.baseline_path)
    before: list[FileProblem] = []
    known = Baseline()
    if disk.may_be_there(path):
        known = ParsedFiles(read_baseline, known).read(path, before)
    if before:
        place, reason = before[0].problem
        return disk.Problem(place, f"{reason} (it is not replaced)")
    there = {
        name: known for name, known in known.files.items() if disk.may_be_there(path.parent / name)
    }
    # Bytes of a file's name that are no text become escapes in JSON.
    kept = {name: known for name, known in {**there, **files}.items() if known}
    text = write_baseline(Baseline(kept))
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > disk.SMALL:
        return disk.Problem(shown, "is not written: it would have more bytes than are read of one")
    try:
        write_whole(disk.inside(path), data)
    except OSError as error:
        return disk.Problem(shown, f"cannot be written: {disk.why(error)}")
    return None


def add_known(project: Project, trace: str, code: str, text: str, count: int) -> disk.Problem | str:
    """Add what a rule finds on so many lines of a text to a project's baseline, beside what is
    known of that text already. Returns the name of the file, or why it is as it was.
    """
    if project.problems:
        return project.problems[0].problem
    known: Known = project.baseline.files.get(trace, {})
    of_rule, found_by = known.get(code, {}), fingerprint(code, text)
    added = {**known, code: {**of_rule, found_by: of_rule.get(found_by, 0) + count}}
    return write_known(project, {trace: added}) or shown_path(project.baseline_path)


def _committed(commit: str, path: Path | str) -> bytes | None:
    from drive_trace.storage.git import committed_file  # noqa: PLC0415 - few need git

    return committed_file(commit, str(path))


def _configuration_in(text: str) -> Configuration | tuple[TextProblem, ...]:
    # Most traces have none, and loading the reader takes longer than a small check.
    from drive_trace.storage.toml_models import read_table  # noqa: PLC0415

    return read_table(text, Configuration)


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
            version = disk.version_of(path.stat()) if data is None else (len(data),)
            if version != before:
                if data is None:
                    real = path if is_named else disk.inside(path, path.parent)
                    data = disk.read_regular(real, is_real=not is_named)
                text = data.decode("utf-8-sig").replace("\r\n", "\n")
                read = self._parse(text)
                if isinstance(read, tuple):
                    lines, told = text.split("\n"), [(spot_of(text, at), why) for at, why in read]
                    found = tuple(FileProblem(path, why, at, lines[at.record]) for at, why in told)
                else:
                    content, found = read, ()
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x}"
            found = (FileProblem(path, f"is not UTF-8 ({byte}); save it as UTF-8"),)
        except OSError as error:
            version = ()  # what kept it from being read may be gone next time
            may = "not" if isinstance(error, disk.LinkOutError) else "cannot be"
            found = (FileProblem(path, f"{may} read: {disk.why(error)}"),)
        self._known[path] = (version, content, found)
        problems += found
        return content


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


def project_of(trace: str) -> str:
    """The folder that a trace's project is called after: what ``projects/x/trace.jsonl`` and
    ``wip/drive-trace/x.jsonl`` stand in, and of others the folder of the run or of the file.
    """
    folder, name = os.path.split(str(Path(trace)))
    above, inner = os.path.split(folder)  # Path is slow, and there are many traces
    if inner == "drive-trace" and os.path.basename(above) == "wip":  # noqa: PTH119
        return os.path.dirname(above) or os.curdir  # noqa: PTH120
    if name == "trace.jsonl":
        folder, (above, inner) = above, os.path.split(above)
    return (above if inner == "projects" else folder) or os.curdir
